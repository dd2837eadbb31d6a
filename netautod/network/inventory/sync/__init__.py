"""Synchronisations with external inventories: read, plan, write, and their history."""
