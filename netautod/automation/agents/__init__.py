"""Agents at work: their transcript, their tools, and what needs an approval."""
