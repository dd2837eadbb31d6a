"""Pages of administration: credentials, users, roles, the audit, the system, webhooks."""
