"""Health probes, metrics and the API documentation."""
