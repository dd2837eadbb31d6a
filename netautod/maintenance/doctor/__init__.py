"""The doctor: faults of an installation, and what to do about them."""
