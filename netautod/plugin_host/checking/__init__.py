"""Says everything that is wrong with a plugin before it is installed: `netautod plugins check`."""
