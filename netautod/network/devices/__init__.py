"""The device inventory: what devices there are, how they are reached, what they refer to."""
