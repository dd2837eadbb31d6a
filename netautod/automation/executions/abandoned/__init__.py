"""The runs of a process that its watchdog has killed."""
