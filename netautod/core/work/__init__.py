"""The context of a piece of work: guard, deadlines, pauses, calls of plugins."""
