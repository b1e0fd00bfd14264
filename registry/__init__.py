"""The registry service: routes, services, storage."""
