"""Avro schemas: parser, canonical text and compatibility checks."""
