"""Health probes and metrics."""
