"""New devices: defaults, checks of hosts and links, and creation in bulk."""
