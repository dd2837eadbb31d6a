"""The sections of settings that plugins declare, and their secrets."""
