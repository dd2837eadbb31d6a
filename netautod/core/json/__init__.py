"""Strict JSON values and their encoding."""
