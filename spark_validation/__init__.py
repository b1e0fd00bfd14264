"""Many records at a time: scanning topics, validating, reporting, finding lineage."""
