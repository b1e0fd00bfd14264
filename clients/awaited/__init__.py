# made by docs/generate.py from clients/blocking/__init__.py: change that, then `make docs`

"""Methods of the clients, by resource; made from ``blocking/`` by ``docs/awaited.py``."""
