"""Methods of the clients, by resource; ``awaited/`` is made from this by ``docs/awaited.py``."""
