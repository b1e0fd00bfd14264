"""Look-ups and checks of many schemas in one request."""
