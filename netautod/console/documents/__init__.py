"""Pages of documents: their contents and versions, templates, and the vault of the notes."""
