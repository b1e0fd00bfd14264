"""What a client that waits can ask, by resource; ``awaited/`` is made from this by ``docs/awaited.py``."""
