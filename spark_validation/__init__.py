"""Audits of many records with Spark: validation of topics, reports, and lineage."""
