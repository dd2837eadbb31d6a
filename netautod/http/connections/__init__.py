"""How clients are connected: who gives way to whom, how long they may take, and what they send.

Tornado writes the answers and runs the handlers. Reading is ours: every request, however odd, has an answer
with the error body, and no client can hold a connection without using it.
"""
