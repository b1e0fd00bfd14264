"""Evaluation of rules: values at run time, macros, and the generated Python function of a rule."""
