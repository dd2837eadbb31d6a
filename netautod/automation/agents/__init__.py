"""Agents at work: their transcript, their tools, and the calls that need an approval."""
