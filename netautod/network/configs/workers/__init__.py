"""Text workers: processes beside the service that compare and search texts."""
