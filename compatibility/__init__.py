"""Schemas: parsers, canonical forms, checks and compatibility engines.

Nothing here does I/O, reads a clock or has global state; everything may be imported by all other folders, and this
folder imports none of them. Each format is a package (``avro/``, ``json_schema/``) with a ``SchemaFormat``, listed in
``formats.py``; ``engine.py`` compares a candidate with its history. A new check: the format's catalogue and checks. A
new format: a package and a line in ``formats.py``.
"""
