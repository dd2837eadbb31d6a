"""Stored configurations: captured from devices, kept as versions, compared, and gathered in snapshots."""
