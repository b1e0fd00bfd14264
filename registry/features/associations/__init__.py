"""Associations between topics and the subjects of their schemas."""
