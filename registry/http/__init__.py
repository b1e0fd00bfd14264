"""Everything that knows HTTP: the app, middleware, bodies, errors and documentation."""
