"""What a person does on a device now: commands, tests of logins, the reset of a host key."""
