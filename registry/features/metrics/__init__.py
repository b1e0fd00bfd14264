"""Metrics of the service and of audits, for Prometheus."""
