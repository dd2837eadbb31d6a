"""Events for listeners, as they happen: executions, logs, polls, configs, approvals, plugins."""
