"""The features of this installation, and the permissions of the caller."""
