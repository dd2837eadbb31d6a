"""The page of metrics for Prometheus, on a listener of its own."""
