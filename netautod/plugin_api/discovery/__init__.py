"""What collectors implement, and the rows that they read."""
