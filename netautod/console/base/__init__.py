"""The parts that all pages share: base handlers, templates, forms, navigation and static files."""
