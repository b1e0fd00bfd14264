"""The vocabulary of schemas and the engines that judge them; no I/O, no clock, no globals."""
