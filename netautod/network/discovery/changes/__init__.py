"""Changes of a device since the poll before, and their observers."""
