"""Auth providers, the service's own and those of plugins, and the users that they confirm."""
