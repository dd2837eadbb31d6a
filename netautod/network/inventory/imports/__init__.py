"""Imports of devices from CSV and JSON files."""
