"""Organizations, their roles and users, and how the first of each come to be."""
