"""When devices are polled next."""
