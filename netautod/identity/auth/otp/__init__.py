"""One-time codes of local accounts (RFC 6238), and recovery codes for users who have lost the device."""
