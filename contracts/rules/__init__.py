"""Rules of data contracts in a subset of CEL.

``compiled_rules.py`` compiles a rule against a schema: ``language/`` parses it and infers its types, ``evaluation/``
generates its Python function, ``functions/`` has the operators and functions, ``pattern/`` the regular expressions.
"""
