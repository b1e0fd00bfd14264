"""Changes in order, without gaps, with long polling."""
