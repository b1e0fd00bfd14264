"""``contractlog change``: change requests."""
