"""The processes of a service: they listen, serve, drain and watch one another."""
