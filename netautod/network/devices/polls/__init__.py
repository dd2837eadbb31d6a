"""The schedule of polls: when devices are polled next."""
