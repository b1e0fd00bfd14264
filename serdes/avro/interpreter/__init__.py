"""Interpreter of Avro schemas: the reference implementation that generated code is tested against."""
