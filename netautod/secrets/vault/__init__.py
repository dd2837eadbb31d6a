"""Envelope encryption: the root key, the organizations' keys, sealed values, rotation; knows no resource."""
