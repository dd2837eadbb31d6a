"""The clock of the database, which decides for all nodes, and what happens when it is set."""
