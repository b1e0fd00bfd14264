"""Command that registers the versions of one environment in another: ``promote``."""
