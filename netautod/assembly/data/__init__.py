"""What an installation keeps and how it is opened: the database, its stores, its migrations."""
