"""Vouching for devices: secrets go only to addresses that a user who may manage credentials has approved."""
