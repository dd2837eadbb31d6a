"""Runs of executors and agents without a server."""
