"""Root of the API, and metadata of the service: version, cluster ids, deployment."""
