"""The SSH certificate authority of each organization, and the certificates that it signs."""
