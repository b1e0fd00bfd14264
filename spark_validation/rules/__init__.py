"""Rules of data contracts in audits: by columns, or per record where these lack the result."""
