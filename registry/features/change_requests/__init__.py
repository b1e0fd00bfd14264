"""Change requests: changes of protected subjects, which their owners approve."""
