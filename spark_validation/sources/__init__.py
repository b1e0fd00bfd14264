"""Sources of records: Kafka and Parquet archives, read by offset ranges into the same columns."""
