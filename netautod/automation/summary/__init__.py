"""The summary that an operator sees first: the state of devices, backups and automation of an organization."""
