"""What logged-in users do with their own account: see and end sessions, change the password."""
