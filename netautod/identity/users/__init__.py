"""Organizations with their roles and users, and how an installation gets its first ones."""
