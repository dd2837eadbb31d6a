"""Whole collections as BSON, as they are: nothing is decoded on the way."""
