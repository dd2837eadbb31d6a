"""Work on the event loop: its pace, its threads, its child processes, many things a few at a time."""
