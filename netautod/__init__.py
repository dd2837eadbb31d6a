"""netautod: a self-hosted network-automation service with an HTTP/JSON API."""

__version__ = "0.2.2"
