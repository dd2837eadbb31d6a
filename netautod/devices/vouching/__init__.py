"""Whose word an address of a device rests on: secrets go to addresses that were vouched for."""
