"""The users of the service, their organizations and their logins."""
