"""Commands that read or write the data of an installation."""
