"""What a schema can be found by: its fields, types, tags and properties."""
