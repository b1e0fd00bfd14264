"""The verbs that run on Spark."""
