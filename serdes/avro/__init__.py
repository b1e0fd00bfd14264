"""Avro records in Kafka frames."""
