"""The HTTP side of the service: handler base, access declarations, schemas, routes and their description."""
