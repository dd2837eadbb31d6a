"""The running system: its nodes, its database and plugins, and the pause of an organization's automation."""
