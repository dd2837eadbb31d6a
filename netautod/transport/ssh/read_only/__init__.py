"""Which commands of a platform only read, and how they are written out in full."""
