"""Functions written for one schema, or for a pair of them: what the interpreter's codecs are turned into."""
