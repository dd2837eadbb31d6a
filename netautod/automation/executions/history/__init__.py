"""The history of executions as clients read it: a search by text, and the runs of agents."""
