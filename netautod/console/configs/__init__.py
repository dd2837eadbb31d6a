"""Pages of stored configurations: versions, diffs of two versions, and the search in all of them."""
