"""Storage of the states of audits, as folders of Parquet tables, and their merge."""
