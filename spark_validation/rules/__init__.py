"""Rules of data contracts over the columns of a batch, and per record where columns cannot have the same result."""
