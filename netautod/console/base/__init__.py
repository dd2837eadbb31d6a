"""What all pages share: the base of their handlers, templates, forms, navigation and static files."""
