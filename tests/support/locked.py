"""A document that somebody holds: who writes to it comes no further, and can be killed there."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pymongo import MongoClient


@contextmanager
def locked(mongo_uri: str, database: str, collection: str, document_id: str) -> Iterator[None]:
    """Until the end of the block whoever writes to the document waits: a transaction is changing it."""
    client: MongoClient[dict[str, Any]] = MongoClient(mongo_uri)
    with client, client.start_session() as session:
        client.admin.command("setParameter", 1, transactionLifetimeLimitSeconds=3600)
        session.start_transaction()
        change = {"$set": {"held": True}}
        client[database][collection].update_one({"_id": document_id}, change, session=session)
        yield
        session.abort_transaction()
