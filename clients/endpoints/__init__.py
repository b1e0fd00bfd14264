"""Methods of the clients, by resource; ``docs/async_modules.py`` generates ``async_endpoints/``."""
