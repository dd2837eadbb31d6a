"""The stream of one listener: what is sent, and in which form."""
