"""The manual in the console: its pages as HTML and a search, without a session."""
