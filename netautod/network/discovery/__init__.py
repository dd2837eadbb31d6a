"""Discovered data of devices: interfaces, neighbors, tables, status, and the polls that bring it."""
