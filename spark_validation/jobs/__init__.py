"""Verbs of the command line that run on Spark."""
