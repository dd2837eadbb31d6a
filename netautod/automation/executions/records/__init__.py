"""Executions, their logs and results as documents."""
