"""The capture of a device: its complete configuration and the parts beside it."""
