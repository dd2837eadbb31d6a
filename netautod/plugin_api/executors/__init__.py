"""What executors implement and are given."""
