"""What changes of configurations tell listeners and webhooks."""
