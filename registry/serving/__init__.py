"""The processes that serve: one, or several with a parent that keeps them alive."""
