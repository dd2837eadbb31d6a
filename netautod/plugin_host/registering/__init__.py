"""The registry of names that plugins take, and the checks of what they register."""
