"""Sessions on devices: the way there, the login, turns between nodes, suspended credentials."""
