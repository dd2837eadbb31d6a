"""What agents can do with the product: read, visit devices, write documents, change configurations."""
