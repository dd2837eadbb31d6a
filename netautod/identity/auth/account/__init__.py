"""The account of the logged-in user: list and end sessions, change the password."""
