"""The notes vault: its passphrase, its key, and whether it is unlocked."""
