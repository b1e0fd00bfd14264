"""Moving a whole registry: out of files, live registries and ``_schemas`` topics, and back into them."""
