"""Requests for each kind of long work of the service, asked for again and again."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from tests.support.client import ApiClient, Response

CSV = "name,host,device_type\n" + "".join(f"d{n},192.0.2.1,linux\n" for n in range(20_000))
ROW = {f"field{n}": n for n in range(15)}
JSON = json.dumps([ROW] * 10_000, separators=(",", ":"))
TEMPLATE = "{% for a in range(99999) %}{% for b in range(99999) %}{{ a * b }}{% endfor %}{% endfor %}"
PASSPHRASE = "a passphrase of the vault"

Asked = Callable[[], Awaitable[Response]]


async def works(api: ApiClient, *, device_id: str | None = None) -> Mapping[str, Asked]:
    """What to ask for, by name. Of a device with two versions also a search, a diff and a reading."""
    template = {"name": "endless", "category": "templates", "content_type": "jinja", "content": TEMPLATE}
    document = (await api.post("/api/docs", template)).expect(201)["id"]
    await api.post("/api/vault/password", {"password": PASSPHRASE})
    user = {"username": "weak", "password": "a" * 4096, "roles": ["viewer"]}
    found: dict[str, Asked] = {
        "render": lambda: api.post(f"/api/docs/{document}/render", {"variables": {}}),
        "import of CSV": lambda: api.post("/api/devices/import/csv?dry_run=true", raw=CSV.encode()),
        "import of JSON": lambda: api.post("/api/devices/import/json?dry_run=true", raw=JSON.encode()),
        "passphrase": lambda: api.post("/api/vault/unlock", {"password": PASSPHRASE}),
        "weak password": lambda: api.post("/api/users", user),
        "revocation list": lambda: api.get("/api/ssh-ca/krl"),
    }
    for number in range(8):
        login: dict[str, Any] = {"username": f"nobody{number}", "password": "p" * 4096}
        found[f"login {number}"] = lambda login=login: api.post("/api/auth/login", login)  # type: ignore[misc]
    if device_id is not None:
        of_device = f"/api/config/devices/{device_id}"
        found["search"] = lambda: api.get("/api/config/search?regex=(a%7Cb%7C.%2B)%2Bz%2B%24")
        found["diff"] = lambda: api.get(f"{of_device}/diff-versions?old_version=1&new_version=2")
        found["redaction"] = lambda: api.get(f"{of_device}/configs/1")
    return found


@asynccontextmanager
async def going_on(asked: Mapping[str, Asked]) -> AsyncIterator[Counter[tuple[str, int]]]:
    """All of it again and again until the block ends; how often each was answered with which status."""
    answered: Counter[tuple[str, int]] = Counter()

    over = asyncio.Event()

    async def repeat(name: str, ask: Asked) -> None:
        while not over.is_set():
            answered[name, (await ask()).status] += 1

    async with asyncio.TaskGroup() as group:
        for name, ask in asked.items():
            group.create_task(repeat(name, ask))
        try:
            yield answered
        finally:
            over.set()
