"""JSON Schema: parser, canonical text and compatibility checks."""
