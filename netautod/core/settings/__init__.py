"""Settings: how a section declares its fields, and how file, environment and flags are read."""
