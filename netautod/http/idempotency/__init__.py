"""Idempotency keys: a request that is sent twice under one key is done once, and answered twice."""
