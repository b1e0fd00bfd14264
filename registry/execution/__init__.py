"""Execution of the work of requests: thread pools, a fair queue, and limits in steps."""
