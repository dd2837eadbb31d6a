"""Strangers with many addresses, who log in over HTTP through a trusted proxy as its clients."""

import asyncio
from collections.abc import Sequence
from typing import Any

from tests.support.client import ApiClient, Response


async def login(client: ApiClient, address: str, username: str, password: str, **fields: Any) -> Response:
    """One login as it arrives from that address."""
    body = {"username": username, "password": password, **fields}
    return await client.post("/api/auth/login", body, headers={"X-Forwarded-For": address})


async def guess(clients: Sequence[ApiClient], username: str, times: int, *, first: int = 0) -> list[Response]:
    """That many wrong passwords, each from an address of its own, over all nodes in turn."""
    return [
        await login(clients[number % len(clients)], f"198.51.100.{number}", username, f"wrong {number}")
        for number in range(first, first + times)
    ]


async def guess_at_once(clients: Sequence[ApiClient], username: str, times: int) -> list[Response]:
    """The same, all at the same moment."""
    return await asyncio.gather(
        *(
            login(clients[number % len(clients)], f"198.51.100.{number}", username, f"wrong {number}")
            for number in range(times)
        )
    )
