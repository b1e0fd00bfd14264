"""Regular expressions of rules in RE2's syntax, which are searched in linear time."""
