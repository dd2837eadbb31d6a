"""Makes a fresh, restarted or moved mongod the writable primary of its one-member replica set."""

import asyncio
from pathlib import Path
from typing import Any

from pymongo import AsyncMongoClient
from pymongo.errors import AutoReconnect, OperationFailure

from netautod.store.embedded.files import SOCKET_NAME, uri_of
from netautod.store.embedded.program import EmbeddedMongoError

SET_NAME = "netautod"
# mongod finds itself in the set's configuration by comparing the member's host with --bind_ip as text, and a
# relative socket path (it runs in the socket's directory) stays true when the data directory moves.
MEMBER_HOST = f"./{SOCKET_NAME}"

_POLL_SECONDS = 0.02
# https://github.com/mongodb/mongo/blob/r6.0.5/src/mongo/base/error_codes.yml
_ALREADY_INITIALIZED = 23
_NOT_YET_INITIALIZED = 94
_CONFIGURATION_IN_PROGRESS = 109


async def become_writable(socket: Path) -> None:
    """Wait until the mongod behind `socket` accepts writes, without end while it does not answer."""
    await _listening(socket)
    client: AsyncMongoClient[dict[str, Any]] = AsyncMongoClient(uri_of(socket), serverSelectionTimeoutMS=2000)
    try:
        while not await _writable(client):  # noqa: ASYNC110 - another process's state has no event
            await asyncio.sleep(_POLL_SECONDS)
    finally:
        await client.close()


async def _listening(socket: Path) -> None:
    # A driver that meets a closed socket sleeps half a second before its next look: look ourselves.
    while True:
        try:
            _, writer = await asyncio.open_unix_connection(socket)
        except (FileNotFoundError, ConnectionRefusedError):
            await asyncio.sleep(_POLL_SECONDS)
        else:
            writer.close()
            await writer.wait_closed()
            return


async def _writable(client: AsyncMongoClient[dict[str, Any]]) -> bool:
    try:
        hello = await client.admin.command("hello")
        if hello.get("isWritablePrimary"):
            return True
        if "setName" not in hello:  # no configuration, or one in which the node does not find itself
            await _configure(client)
    except AutoReconnect:
        return False
    return False


async def _configure(client: AsyncMongoClient[dict[str, Any]]) -> None:
    try:
        stored = (await client.admin.command("replSetGetConfig"))["config"]
    except OperationFailure as error:
        if error.code != _NOT_YET_INITIALIZED:
            raise EmbeddedMongoError(
                f"The replica set of the embedded database is unreadable: {error}"
            ) from error
        await _run(client, "replSetInitiate", {"_id": SET_NAME, "members": [{"_id": 0, "host": MEMBER_HOST}]})
        return
    if stored["_id"] != SET_NAME:
        raise EmbeddedMongoError(
            f"The embedded database belongs to another replica set, {stored['_id']}: restore it from a dump"
        )
    if [member["host"] for member in stored["members"]] != [MEMBER_HOST]:
        # Data that another address served: there is no majority to ask, hence force.
        members = [{"_id": 0, "host": MEMBER_HOST}]
        changed = {**stored, "version": stored["version"] + 1, "members": members}
        await _run(client, "replSetReconfig", changed, force=True)


async def _run(client: AsyncMongoClient[dict[str, Any]], name: str, value: Any, **options: Any) -> None:
    try:
        await client.admin.command(name, value, **options)
    except OperationFailure as error:
        if error.code not in (_ALREADY_INITIALIZED, _CONFIGURATION_IN_PROGRESS):
            raise EmbeddedMongoError(f"The embedded database refused {name}: {error}") from error
