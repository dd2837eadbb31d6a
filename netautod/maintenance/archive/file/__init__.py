"""The file of a backup: its beginning, its frames, what they say, and how it is sealed."""
