"""Texts without their secrets: command lines as events, logs and errors show them; the looks of secrets."""
