"""Access tokens (JWT), the keys that sign them, and API tokens of users."""
