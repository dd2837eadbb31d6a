"""What a process tells the one that watches it, in shared memory: it ticks, and whose run it works on."""
