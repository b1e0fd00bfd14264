"""Daily operations on a registry: list, show, configure, delete and restore what it contains.

Each verb works with every server of the reference's API, and says what such a server cannot tell.
"""
