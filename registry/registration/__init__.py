"""Registration of schemas: parse, look up, check, append; and deletion."""
