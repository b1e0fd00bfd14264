"""The comparison of two schemas or two folders."""
