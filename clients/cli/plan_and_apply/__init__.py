"""Commands that bring a registry to the state of the files: ``plan`` and ``apply``."""
