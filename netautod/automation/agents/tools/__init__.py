"""The tools by which agents read, visit devices, write documents and change configurations."""
