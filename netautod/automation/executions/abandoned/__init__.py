"""What becomes of the runs of a process that its watchdog has given up."""
