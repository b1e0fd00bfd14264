"""Who calls, and what they may do: listeners, users, rights. The routes know nothing of it."""
