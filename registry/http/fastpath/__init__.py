"""Shortcuts for the most frequent requests, with the responses of the routes."""
