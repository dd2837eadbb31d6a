"""Commands about plugins and platforms."""
