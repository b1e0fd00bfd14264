"""Possible fixes as edits of a schema's text; ``compatibility/mends.py`` verifies them."""
