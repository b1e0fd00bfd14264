"""Search for fields, types, tags and properties, and its index."""
