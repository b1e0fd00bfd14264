"""Comparison of JSON schemas under STRICT and LENIENT, difference by difference as in the reference."""
