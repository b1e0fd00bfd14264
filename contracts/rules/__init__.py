"""Rules of data contracts in a subset of CEL: tree, types, Python closure, English sentence."""
