"""Lockout: failed logins are counted, and addresses that guess are locked out."""
