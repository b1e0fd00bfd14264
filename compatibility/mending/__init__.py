"""Ways to mend a schema in its text; ``compatibility/mends.py`` tries them."""
