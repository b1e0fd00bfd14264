"""Data contracts as documents of the Open Data Contract Standard (ODCS) 3.0 to 3.2."""
