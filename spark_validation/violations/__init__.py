"""Violating records: the Parquet files of an audit, examples, selections and corrections for a replay."""
