"""Resources of the API, one folder each: routes, service, store and bodies."""
