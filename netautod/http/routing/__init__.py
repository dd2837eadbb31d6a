"""Routes, the table that finds them, and what a handler method declares."""
