"""Import, export and verification of whole registries: files, live registries and ``_schemas`` topics."""
