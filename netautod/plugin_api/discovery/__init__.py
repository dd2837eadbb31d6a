"""The contract of collectors, and the rows that they read."""
