"""Pages of stored configurations: versions, what two of them differ in, the search in all of them."""
