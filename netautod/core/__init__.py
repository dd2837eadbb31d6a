"""The base that knows nothing of the product: errors, time, identity, pages, JSON, schemas, settings,
registries.
"""
