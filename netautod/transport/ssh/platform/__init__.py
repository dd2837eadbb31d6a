"""Platforms: what the CLI engine knows of one kind of device, read from TOML definitions."""
