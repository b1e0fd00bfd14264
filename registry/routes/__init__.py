"""One module per resource: parse, call one service, shape the answer."""
