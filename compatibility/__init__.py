"""Schemas: parsers, canonical forms, checks and compatibility engines.

Nothing here does I/O, reads a clock or has global state; everything may be imported by all other folders, and this
folder imports none of them. Each format is a package (``avro/``, ``json_schema/``) behind ``formats.py``;
``engine.py`` compares a candidate with its history. A new check: ``catalogue.py`` and the format's rules. A new
format: a package and an entry in ``formats.py``.
"""
