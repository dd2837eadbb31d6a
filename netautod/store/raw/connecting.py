"""The driver as raw reading and writing use it: blocking, in a thread of their own."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bson.codec_options import CodecOptions
from bson.raw_bson import RawBSONDocument
from pymongo import MongoClient

from netautod.core.work.deadlines import BULK_SECONDS
from netautod.store.connection import SELECTION_SECONDS

RAW: CodecOptions[RawBSONDocument] = CodecOptions(document_class=RawBSONDocument)


@contextmanager
def raw_client(uri: str, *, connections: int = 1, repeats_writes: bool = True) -> Iterator[MongoClient[Any]]:
    """Open a blocking client of the driver; the thread that works with it leaves the block."""
    client: MongoClient[Any] = MongoClient(
        uri,
        serverSelectionTimeoutMS=SELECTION_SECONDS * 1000,
        socketTimeoutMS=int(4 * BULK_SECONDS * 1000),
        maxPoolSize=connections,
        retryWrites=repeats_writes,
        appname="netautod",
    )
    with client:
        yield client
