"""Rules of data contracts: a subset of CEL, from text to tree, types, Python closure and English sentence."""
