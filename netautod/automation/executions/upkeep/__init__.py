"""Periodic work on executions: retention, and ticks that a pause held back."""
