"""What audits observe: outcome codes, mergeable states, their merge and the report made of them."""
