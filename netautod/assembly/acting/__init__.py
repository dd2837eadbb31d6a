"""The services that plugins work with, in the name of a user and in a run."""
