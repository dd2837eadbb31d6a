"""The page of the network: a drawing and a table of the links that neighbor tables show."""
