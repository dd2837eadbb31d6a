"""One poll of one device: which transports are asked for what, and what they have given together."""
