"""The lines of configuration that a platform takes: what may stand in its configuration mode."""
