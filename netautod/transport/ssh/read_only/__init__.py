"""The commands of a platform that only read, and their full form."""
