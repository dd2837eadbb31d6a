"""The plugins of this process: loaded one by one, started, stopped, and told of events."""
