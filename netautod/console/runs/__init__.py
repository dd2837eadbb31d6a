"""Pages of what is run: tasks, executions, and what waits for an approval."""
