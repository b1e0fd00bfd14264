# made by docs/generate.py from clients/endpoints/__init__.py: change that, then `make docs`

"""Methods of the clients, by resource; ``docs/async_modules.py`` generates ``async_endpoints/``."""
