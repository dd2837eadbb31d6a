"""What executions tell listeners, webhooks and observers."""
