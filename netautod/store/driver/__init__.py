"""The database driver: connections, calls, threads, failures."""
