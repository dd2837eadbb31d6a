"""Leases: work that exactly one node may do at a time, kept by heartbeats and guarded by fences."""
