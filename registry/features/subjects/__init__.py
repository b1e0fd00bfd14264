"""Subjects: list, lookup of a schema under one, deletion."""
