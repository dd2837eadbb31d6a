"""What one listener of the event stream is sent, and how it is written."""
