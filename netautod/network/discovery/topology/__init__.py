"""What the neighbor tables of all devices add up to: who is connected to whom, and over which interfaces."""
