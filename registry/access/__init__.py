"""Access control: TLS listener, authentication, users, permissions."""
