"""What plugins register and add to the service."""
