"""Sessions on devices: jump devices and logins, the limits on concurrent sessions, suspended credentials."""
