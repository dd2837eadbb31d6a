"""Events of changed configurations, for listeners and webhooks."""
