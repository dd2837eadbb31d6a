"""Text for terminals, logs and spreadsheets."""
