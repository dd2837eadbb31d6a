"""Changes of configurations by agents: what they would do, and the doing of it."""
