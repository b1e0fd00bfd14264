"""HTTP layer: the app, middleware, bodies, errors and documentation."""
