"""Schema vocabulary, parsers and compatibility engines; no I/O, no clock, no global state."""
