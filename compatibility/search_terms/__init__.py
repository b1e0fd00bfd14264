"""Search terms of schemas: fields, types, tags and properties."""
