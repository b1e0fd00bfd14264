"""What the registry does, apart from HTTP and SQL."""
