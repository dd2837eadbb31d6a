"""MongoDB behind one door: the client, collections scoped by organization, indexes and paging."""
