"""The owners of tasks: tasks whose owner is disabled or deleted are blocked."""
