"""The time that a request gives another system to answer, while a person waits for the request."""

# Clients give up after 30 s without a reason; what is to be done besides fits into the second below 25.
ANSWER_SECONDS = 24.0
