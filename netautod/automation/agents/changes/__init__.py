"""Changes of configurations by agents: their prediction and their execution."""
