"""HTTP routes, one module per resource: parse, call one service, build the response."""
