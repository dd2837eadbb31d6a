"""A service under test, and what it talks to."""
