"""The logs of executions: their lines, their last line, and the service's own log line about an attempt."""
