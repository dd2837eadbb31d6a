"""Shared memory between a process and its watcher: the process ticks, and says which run it works on."""
