"""The network wing of the service; commands load only the parts that they need."""
