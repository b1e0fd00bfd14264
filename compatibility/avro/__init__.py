"""Avro: parser, canonical text and checks."""
