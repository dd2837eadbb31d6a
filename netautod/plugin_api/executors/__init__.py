"""The contract of executors, and what they are given."""
