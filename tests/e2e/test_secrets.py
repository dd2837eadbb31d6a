"""A dump of the database, the files beside it and the log of the service hold no secret in clear."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import asyncssh
import pytest
from bson.raw_bson import RawBSONDocument
from pymongo import AsyncMongoClient

from netautod.store.embedded.mongod import find_running
from netautod.testing import SimulatedDevice, ios_config
from tests.e2e.console import Console
from tests.support.programs.service import Service

pytestmark = pytest.mark.slow

# Files whose purpose is to hold a secret; both are 0600.
SECRET_FILES = ("initial-admin-password", "master.key")
CREDENTIALS: dict[str, dict[str, str]] = {
    "snmp_community": {"secret": "canary-community"},
    "snmp_v3": {
        "username": "monitor",
        "auth_protocol": "SHA",
        "auth_key": "canary-auth-key",
        "priv_protocol": "AES",
        "priv_key": "canary-priv-key",
    },
    "api_token": {"secret": "canary-token"},
    "generic_secret": {"secret": "canary-generic"},
}
CONTROL = "snmp_v3 with canary"
PASSWORD = "canary-user-password-17!"


async def test_no_secret_is_stored_in_clear(service: Service, console: Console) -> None:
    key = asyncssh.generate_private_key("ssh-ed25519").export_private_key().decode()
    canaries = [
        "canary-password",
        "canary-enable",
        "canary-community",
        "canary-auth-key",
        "canary-priv-key",
        "canary-token",
        "canary-generic",
        "canary-in-config",
        "canary-inventory",
        PASSWORD,
        key.splitlines()[3],
        service.password,
    ]
    await add_secrets(console, key)
    tokens = await logged_in(console)
    await back_up(console)
    await synchronise(console)
    found = {text async for text in leaks(service, [CONTROL, *canaries, *tokens])}
    assert {text for text in found if not text.startswith(CONTROL)} == set()
    assert f"{CONTROL} in netautod.credentials" in found  # the search finds what is in clear


async def add_secrets(console: Console, key: str) -> None:
    await console.credential("key with canary", credential_type="ssh_key", username="admin", secret=key)
    for kind, fields in CREDENTIALS.items():
        await console.credential(f"{kind} with canary", credential_type=kind, **fields)
    await console.add("/api/users", username="canary", password=PASSWORD, roles=["viewer"])


async def logged_in(console: Console) -> list[str]:
    """The tokens of a login; the service keeps hashes of them at most."""
    login = {"username": "canary", "password": PASSWORD}
    response = await console.client.with_token(None).post("/api/auth/login", login)
    assert response.status == 200, response.content
    return [response.json["access_token"], response.json["refresh_token"]]


async def back_up(console: Console) -> None:
    config = ios_config("canary", community="canary-in-config")
    device = SimulatedDevice(
        hostname="canary", password="canary-password", enable_password="canary-enable", config=config
    )
    async with device as switch:
        credential = await console.credential(
            "canary", secret="canary-password", enable_secret="canary-enable"
        )
        await console.device("canary", switch.port, default_credential_id=credential)
        run = await console.run(await console.backup("canary", "canary"))
    assert run["state"] == "completed", run


async def synchronise(console: Console) -> None:
    """With an inventory system that is not there: what fails is logged and kept as well."""
    url = "http://inventory.invalid"
    source = await console.add(
        "/api/devices/sources/inventory", name="canary", url=url, token="canary-inventory"
    )
    path = f"/api/devices/sources/inventory/{source['id']}"
    for call in ("test", "sync"):
        response = await console.client.post(f"{path}/{call}")
        assert response.status == {"test": 200, "sync": 502}[call], response.content
    named = {"inventory_url": url, "token": "canary-inventory"}
    assert (await console.client.post("/api/devices/sync/inventory", named)).status == 502


async def leaks(service: Service, canaries: list[str]) -> AsyncIterator[str]:
    """Where a canary stands in clear."""
    wanted = {canary: canary.encode() for canary in canaries}
    documents = 0
    async with dump(service.data_dir) as stored:
        async for name, raw in stored:
            documents += 1
            for canary, data in wanted.items():
                if data in raw:
                    yield f"{canary} in {name}"
    assert documents > 50
    for path in files(service.data_dir):
        content = path.read_bytes()
        for canary, data in wanted.items():
            if data in content:
                yield f"{canary} in {path.name}"


@asynccontextmanager
async def dump(data_dir: Path) -> AsyncIterator[AsyncIterator[tuple[str, bytes]]]:
    """Every document of every database, the log of operations included, as BSON bytes."""
    uri = find_running(data_dir)
    client: AsyncMongoClient[Any] = AsyncMongoClient(uri, document_class=RawBSONDocument)

    async def documents() -> AsyncIterator[tuple[str, bytes]]:
        for name in await client.list_database_names():
            for collection in await client[name].list_collection_names():
                async for document in client[name][collection].find():
                    yield f"{name}.{collection}", document.raw

    try:
        yield documents()
    finally:
        await client.close()


def files(data_dir: Path) -> list[Path]:
    found = [path for path in data_dir.rglob("*") if path.is_file()]
    secret = [path for path in found if path.name in SECRET_FILES]
    assert sorted(path.name for path in secret) == sorted(SECRET_FILES)
    assert [path for path in secret if path.stat().st_mode & 0o077] == []
    return [path for path in found if path not in secret]
