"""Devices as documents, the queries of their lists, and counts."""
