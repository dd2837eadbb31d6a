"""The tables of devices as they are kept: checked rows in parts, and a header that says which parts count."""
