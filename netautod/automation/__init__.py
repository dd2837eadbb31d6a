"""Scheduled work: tasks, executions, agents, and the state of the system."""
