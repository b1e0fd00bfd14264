"""Possible fixes as edits of a schema's text; ``compatibility/fixes/fix_search.py`` verifies them."""
