"""The one guarded HTTP client: address rules, no cross-host redirects, size and time limits."""
