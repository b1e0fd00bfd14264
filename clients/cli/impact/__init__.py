"""``contractlog impact``: what a change of a field reaches."""
