"""Executions: one record per run, its states, and the machinery that runs them on one node of many."""
