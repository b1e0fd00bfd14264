"""Data contracts as documents of the Open Data Contract Standard (ODCS) 3.0 to 3.2.

``evaluated_quality.py`` passes the quality rules of a contract to ``contracts/quality/``, which has what they mean.
"""
