"""The command ``contractlog journal``: head, verification and export of the change log."""
