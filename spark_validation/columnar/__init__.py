"""Columnar validation of Arrow buffers, one outcome per record.

It uses numpy and pyarrow, not Spark, and makes no Python object per Avro value.
"""
