"""Quality rules of a topic, in the form of the Open Data Contract Standard (ODCS)."""
