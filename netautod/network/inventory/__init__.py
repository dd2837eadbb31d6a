"""Sources of devices: imports, sync with external inventory systems, their saved sources and history."""
