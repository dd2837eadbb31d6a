"""The way out and in: stored configs as files or as a git repository, and the histories of other tools."""
