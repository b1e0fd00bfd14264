"""Rules for a single schema: names, documentation, defaults, types that lose information; no I/O."""
