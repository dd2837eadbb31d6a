"""One-time codes of local accounts (RFC 6238), and recovery codes for who has lost the device."""
