"""The way in and out of the console."""
