"""JSON Schema: parser and canonical text."""
