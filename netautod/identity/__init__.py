"""Who uses the service: users, organizations and logins."""
