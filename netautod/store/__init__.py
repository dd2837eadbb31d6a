"""MongoDB: the client, collections scoped by organization, indexes, leases, and a private server."""
