"""Vouching for devices: secrets go to addresses that somebody who may manage credentials decided on."""
