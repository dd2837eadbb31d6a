"""The composition root: settings, plugins and an open installation become services, routes and a node."""
