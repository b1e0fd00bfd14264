"""What operators see: metrics, request ids, logs, and whether the registry is ready."""
