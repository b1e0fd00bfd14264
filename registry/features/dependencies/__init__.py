"""Dependencies and dependents of schemas."""
