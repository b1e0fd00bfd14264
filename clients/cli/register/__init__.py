"""``contractlog register``: ``apply`` for the given files, without settings and deletions."""
