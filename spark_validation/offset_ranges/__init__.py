"""Passes over the records of one offset range, without Spark: audit, back-test, scan of schema ids."""
