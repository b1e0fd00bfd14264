"""Execution of requests' work: thread pools, a fair queue, and limits by steps."""
