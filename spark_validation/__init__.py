"""Audits of topics with Spark: each record is checked against the schema whose id it carries.

``sources/`` reads offset ranges, ``columnar/`` validates Arrow batches without Spark, ``lineage/`` finds where values
come from, ``report/`` writes the HTML report, ``jobs/`` has the commands. May import ``serdes`` and what is below it,
never ``registry``. A new source of records: a class in ``sources/``.
"""
