"""Change log of a registry: the hash chain of its entries, its verification, and CloudEvents."""
