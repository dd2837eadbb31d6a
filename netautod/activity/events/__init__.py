"""What has just happened, told to who listens: executions, logs, polls, configs, approvals, plugins."""
