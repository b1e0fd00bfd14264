"""Observability: metrics, request ids, logs, and the readiness of the registry."""
