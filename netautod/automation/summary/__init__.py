"""The summary that an operator sees first: the state of an organization's devices, backups and runs."""
