"""What happened: audit, event streams, webhooks."""
