"""Services: the registry's behaviour, independent of HTTP and SQL."""
