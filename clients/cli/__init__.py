"""The command line: which verb lives where, and what all verbs share."""
