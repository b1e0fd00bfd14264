"""JSON records in Kafka frames."""
