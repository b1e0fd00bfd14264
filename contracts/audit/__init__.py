"""Results of audits: outcome codes, mergeable states, and the report made from them."""
