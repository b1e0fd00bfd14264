"""``contractlog contract``: data contracts as files."""
