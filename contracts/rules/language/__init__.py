"""The language of rules: tokens, parser, tree of expressions, types and their inference from schemas."""
