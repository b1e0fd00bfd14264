"""Speaking to a registry: calls, transports, clients, caches, the command line."""
