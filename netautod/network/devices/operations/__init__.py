"""Operations on a device by a person: commands, tests of logins, the reset of a host key."""
