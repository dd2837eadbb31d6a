"""Where devices come from: imports, sync with external inventory systems, their saved sources and history."""
