"""The CLI engine: SSH connections, sessions on network devices and complete reads of their configurations."""
