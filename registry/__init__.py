"""The service: routes, services, storage."""
