"""Folders of a run of the tests."""

LASTING = "lasting-"
"""Begins the names of those that outlive the module of tests in which they were made."""
