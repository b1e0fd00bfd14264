"""Execution with Spark: the session with its Java, the cluster, and tasks on offset ranges."""
