"""A private MongoDB for installations without one: a mongod that lives and dies with this process."""
