"""HTML pages, self-contained: they load nothing except from this registry."""
