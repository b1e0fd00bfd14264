"""The service: versions of schemas by subject, with compatibility checks.

``app.py`` builds the ASGI application from ``settings.py``. ``http/`` has everything that knows HTTP, ``features/`` a
folder for each resource of the API, ``registration/`` the path of a registration, ``storage/`` the database,
``transfer/`` import and export. The service imports ``compatibility`` and ``contracts``; only ``transfer/`` and
``testing.py`` import ``clients``. A new resource: a folder in ``features/``, listed in ``features/routers.py``.
"""
