"""``contractlog change`` and ``contractlog changes``: change requests, and the change log."""
