"""The HTTP side of the service: handler base, access declarations, routes and their description."""
