"""The web console: pages rendered on the server, for people, on top of the services that the API has."""
