"""The records of plugins: JSON values by key, each plugin and organization apart, within quotas."""
