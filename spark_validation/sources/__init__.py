"""Where records come from: Kafka by offset ranges, and Parquet archives, as one column set."""
