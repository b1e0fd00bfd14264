"""Command line: the table of verbs, the client verbs, and the helpers that all verbs share."""
