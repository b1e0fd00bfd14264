"""Columnar validation: Arrow buffers in, one outcome per record out; numpy and pyarrow, no objects, no Spark."""
