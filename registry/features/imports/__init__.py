"""Import of a whole registry into the running one."""
