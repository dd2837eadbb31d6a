"""What has changed on a device since the poll before, and who is told of it."""
