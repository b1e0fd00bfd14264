"""Audits of topics with Spark: each record is checked against the schema whose id it carries.

``sources/`` reads offset ranges, ``expectations/`` has the schemas that records should have, ``columnar/`` validates
Arrow batches, ``offset_ranges/`` audits one range (none of them with Spark), and ``spark/`` audits many. ``state/`` and
``violations/`` store the results; ``lineage/`` infers the origin of values, ``report/`` writes the HTML report,
``jobs/`` has the commands. May import ``serdes`` and the folders below it, never ``registry``. To add a source of
records, add a class to ``sources/``.
"""
