"""The command `netautod`: one module for each command."""
