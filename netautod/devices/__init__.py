"""The device inventory: what devices there are, how they are reached, who they refer to."""
