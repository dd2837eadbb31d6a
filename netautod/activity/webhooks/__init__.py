"""Webhooks of organizations: which receivers want which events, and deliveries that survive the end of a
node.
"""
