"""Clients that stay connected: changes are known at once on every node, as for single requests."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pytest

from netautod.core.errors import Unauthenticated, Unavailable
from netautod.core.json.values import to_text
from netautod.identity.auth.models import ApiToken
from netautod.identity.auth.tokens.store import ApiTokenStore
from netautod.identity.users.models import User
from tests.identity.auth.support import INFO, Node, NodeStarter
from tests.support.client import ApiClient

Http = Callable[[Node], ApiClient]
NEW = "another good password 1"


@dataclass(frozen=True, kw_only=True)
class Stay:
    """A setup with Ann, who has a session and an API token.

    `api` is hers, `admin` may end them. All at the first node.
    """

    first: Node
    second: Node
    ann: User
    api: ApiClient
    admin: ApiClient
    session: str
    machine: str
    machine_id: str

    async def staying(self) -> dict[str, set[str]]:
        """Return which of her tokens are valid at the second node, with their permissions; past its cache."""
        tokens = {"session": self.session, "machine": self.machine}
        found = await self.second.logins.token_states.callers(list(tokens.values()))
        self.second.authenticator.forget_all()
        for token in tokens.values():
            await self._agrees(token, token in found)
        return {name: set(found[token].permissions) for name, token in tokens.items() if token in found}

    async def _agrees(self, token: str, holds: bool) -> None:
        try:
            await self.second.authenticator.authenticate(token, INFO)
        except Unauthenticated:
            assert not holds
        else:
            assert holds


@pytest.fixture
async def stay(start: NodeStarter, http: Http) -> Stay:
    first, second = await start(), await start()
    ann = await first.installation.add("ann", "operator")
    client = http(first)
    api = client.with_token((await first.log_in("ann")).access_token)
    ends_at = to_text(first.clock.now() + timedelta(minutes=30))
    wanted = {"name": "ci", "permissions": ["devices.access", "tasks.operate"], "expires_at": ends_at}
    made = (await api.post("/api/auth/tokens", wanted)).expect(201)
    return Stay(
        first=first,
        second=second,
        ann=ann,
        api=api,
        admin=client.with_token((await first.log_in()).access_token),
        session=str(api.token),
        machine=made["token"],
        machine_id=made["id"],
    )


async def logout(stay: Stay) -> Any:
    return await stay.api.post("/api/auth/logout")


async def reset(stay: Stay) -> Any:
    return await stay.admin.put(f"/api/users/{stay.ann.id}", {"password": NEW})


async def deactivate(stay: Stay) -> Any:
    return await stay.admin.put(f"/api/users/{stay.ann.id}", {"is_active": False})


async def delete(stay: Stay) -> Any:
    return await stay.admin.delete(f"/api/users/{stay.ann.id}")


async def revoke(stay: Stay) -> Any:
    return await stay.api.delete(f"/api/auth/tokens/{stay.machine_id}")


async def half_an_hour(stay: Stay) -> None:
    stay.first.clock.move(1800)


async def an_hour(stay: Stay) -> None:
    stay.first.clock.move(3600)


@pytest.mark.parametrize(
    ("end", "left"),
    [
        (logout, {"machine"}),
        (reset, set()),
        (deactivate, set()),
        (delete, set()),
        (revoke, {"session"}),
        (half_an_hour, {"session"}),
        (an_hour, set()),
    ],
)
async def test_who_may_not_stay(stay: Stay, end: Callable[[Stay], Awaitable[Any]], left: set[str]) -> None:
    assert set(await stay.staying()) == {"session", "machine"}
    answer = await end(stay)
    assert answer is None or answer.status in (200, 204)
    assert set(await stay.staying()) == left


async def test_the_permissions_are_those_of_now(stay: Stay) -> None:
    assert (await stay.staying())["machine"] == {"devices.access", "tasks.operate"}
    (await stay.admin.put(f"/api/users/{stay.ann.id}", {"roles": ["viewer"]})).expect()
    assert await stay.staying() == {
        "session": {"devices.access", "docs.read"},
        "machine": {"devices.access"},
    }


async def test_other_text_has_no_caller(stay: Stay) -> None:
    wrong = ["", "x", "nat_" + "x" * 43, f"{stay.session}x"]
    assert await stay.second.logins.token_states.callers(wrong) == {}


async def test_who_must_change_the_password_is_blocked(stay: Stay) -> None:
    body = {"password": NEW, "must_change_password": True}
    (await stay.admin.put(f"/api/users/{stay.ann.id}", body)).expect()
    again = (await stay.first.log_in("ann", NEW)).access_token
    (caller,) = (await stay.second.logins.token_states.callers([again])).values()
    assert caller.blocked is not None


async def test_who_stays_is_active(stay: Stay, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check the stored activity; a failure to store it ends nothing."""
    stay.first.clock.move(120)
    await stay.second.logins.token_states.callers([stay.session, stay.machine])
    (session,) = await stay.first.documents("sessions", {"user_id": stay.ann.id})
    (token,) = await stay.first.documents("api_tokens")
    assert session["last_activity_at"] == token["last_used_at"] == stay.first.clock.now()

    async def away(*_: Any) -> None:
        raise Unavailable("away")

    stay.first.clock.move(120)
    store = stay.second.installation.stores.sessions
    monkeypatch.setattr(store, "touch", away)
    assert set(await stay.second.logins.token_states.callers([stay.session])) == {stay.session}


async def test_requests_and_listeners_of_all_nodes_share_one_write_of_a_token(
    stay: Stay, monkeypatch: pytest.MonkeyPatch
) -> None:
    writes = []
    real = ApiTokenStore.record_use

    async def counted(store: ApiTokenStore, token: ApiToken, now: datetime, interval: timedelta) -> None:
        writes.append(now)
        await real(store, token, now, interval)

    monkeypatch.setattr(ApiTokenStore, "record_use", counted)
    for seconds, expected in ((120, 1), (59, 1), (1, 2)):
        stay.first.clock.move(seconds)
        for node in (stay.first, stay.second):
            await node.authenticator.authenticate(stay.machine, INFO)
            await node.logins.token_states.callers([stay.machine])
        assert len(writes) == expected
        (token,) = await stay.first.documents("api_tokens")
        assert token["last_used_at"] == writes[-1]
