# made by docs/generate.py from clients/blocking/__init__.py: change that, then `make docs`

"""What a client that is awaited can ask, by resource; made from ``blocking/`` by ``docs/awaited.py``."""
