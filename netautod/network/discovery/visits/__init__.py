"""One poll of one device: which transport reads which tables, and what they have read together."""
