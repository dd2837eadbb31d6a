"""What is discovered on devices: interfaces, neighbors, tables, status, and the polls that bring it."""
