"""What an operator sees first: how the devices, their backups and the automation of an organization stand."""
