"""Client connections: reading requests, answering them, deadlines, and eviction.

Tornado routes requests and runs the handlers. The connections are ours: every request, however odd, has an
answer with the error body, and no client can hold a connection without using it.
"""
