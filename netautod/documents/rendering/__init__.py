"""Templates, rendered in child processes that can be killed."""
