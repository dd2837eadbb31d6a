"""The chain of an organization's audit events: each holds the hash of the one before."""
