"""The composition root in parts, one for each resource."""
