"""Cron schedules: their grammar, their time zones, and when they fire."""
