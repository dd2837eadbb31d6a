"""The SSH connection to a device, through its jump devices: its host key and its login."""
