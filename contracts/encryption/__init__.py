"""Encryption of fields and payloads: algorithms, serialized keys, and wrapping with a local secret."""
