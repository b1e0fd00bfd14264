"""What is promised about data, and what was observed of it."""
