"""The command line of a device: its bytes, its prompt, its questions, the output of a command."""
