"""The process that watches the one that serves: names what blocks its loop, and gives it up in the end."""
