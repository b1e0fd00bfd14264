"""DEK registry: key encryption keys (KEKs) and the data encryption keys (DEKs) that they wrap."""
