"""Where streams come from, found in their values."""
