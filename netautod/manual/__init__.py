"""The manual: Markdown pages by reader, and the modules that read and search them."""
