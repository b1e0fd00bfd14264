"""Serving processes: a single one, or several workers with a parent that restarts them."""
