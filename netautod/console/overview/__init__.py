"""The first page: how everything stands."""
