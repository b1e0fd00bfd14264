"""Texts for people: numbers, sizes, and what terminals and UTF-8 can take."""
