"""The composition root: settings and plugins become services, routes, a node and a running server."""
