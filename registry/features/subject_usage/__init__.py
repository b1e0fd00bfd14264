"""Usage of subjects: the clients that fetch their versions, and the records that carry them."""
