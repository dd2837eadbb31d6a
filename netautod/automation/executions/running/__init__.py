"""The machinery by which a node scans, claims, runs, renews and takes over executions."""
