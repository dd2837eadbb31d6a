"""Passwords: how they are hashed, how strong they are, and which ones are refused."""
