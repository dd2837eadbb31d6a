"""Events of executions for listeners, webhooks and observers."""
