"""What was run, as clients look for it: a search by text, and the runs of agents."""
