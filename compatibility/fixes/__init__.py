"""Possible fixes as edits of a schema's text; ``compatibility/fixes/engine.py`` verifies them."""
