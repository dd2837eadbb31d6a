"""The logs of executions: their lines, how they end, and the line about an attempt."""
