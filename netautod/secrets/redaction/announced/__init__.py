"""The general rule of redaction: what a word announces is hidden, unless it is listed."""
