"""Config and mode: global, per context and per subject."""
