"""How clients are connected: which is evicted for a new one, how long they may take, and what they send.

Tornado writes the answers and runs the handlers. Reading is ours: every request, however odd, has an answer
with the error body, and no client can hold a connection without using it.
"""
