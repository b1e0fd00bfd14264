"""Schemas: parsers, canonical forms, checks and compatibility engines.

This folder does no I/O, reads no clock and has no global state. All other folders may import it, and it imports none of
them. Each format is a package (``avro/``, ``json_schema/``) with a ``SchemaFormat``, listed in ``formats.py``;
``engine.py`` compares a candidate with its history. To add a check, extend the format's catalogue and rules; to add a
format, add a package and a line in ``formats.py``.
"""
