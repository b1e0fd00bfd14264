"""Lookups and checks of many schemas in one request."""
