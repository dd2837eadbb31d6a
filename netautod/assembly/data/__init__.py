"""The data of an installation and how it is opened: the database, its stores, its migrations."""
