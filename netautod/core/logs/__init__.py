"""Log lines: their format, their ids, folding of repeats, and traces."""
