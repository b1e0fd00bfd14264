"""A small model of a registry, and a state machine that compares the service with it."""
