"""Subjects and their versions."""
