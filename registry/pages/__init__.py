"""Pages for people; they ask nothing of anybody but this registry."""
