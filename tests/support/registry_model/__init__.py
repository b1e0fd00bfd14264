"""A registry as a small readable model, and a machine that makes each writing call to it and to the service."""
