"""This node's share of the executions: scan, claim, run, heartbeat, take over."""
