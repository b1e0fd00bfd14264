"""HTTP bodies, as in ``openapi.yaml``."""
