"""Pages of inventories: imports of files, saved sources and their synchronisations; pages of sites."""
