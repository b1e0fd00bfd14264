"""Operators and functions of rules; each function is declared once, in ``function_table.py``."""
