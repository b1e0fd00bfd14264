"""The service: versions of schemas by subject, with compatibility checks.

``app.py`` builds the ASGI application from ``settings.py``. ``http/`` is the HTTP layer; ``features/`` has a folder
for each API resource; ``registration/`` implements registrations, ``storage/`` the database, ``maintenance/`` the
commands of ``db`` that correct it, ``transfer/`` import and export. The service imports ``compatibility`` and
``contracts``; only ``transfer/`` and ``testing.py`` import ``clients``. To add a resource, add a folder to
``features/`` and list it in ``features/routers.py``.
"""
