"""Expectations of an audit: the schemas that records should have, found in the versions of a registry."""
