"""Commands of ``contractlog db`` that correct the database of a registry: id counters and contexts."""
