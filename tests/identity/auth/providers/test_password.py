"""A provider of any name behind POST /api/auth/login: the rules of logins hold for it by the same code."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest

from netautod.identity.auth.settings import AuthSettings
from netautod.identity.users.models import NewUser
from netautod.plugin_api import AccountEnded, Identity, LoginRefused, ProbeResult, ProviderUnavailable
from tests.identity.auth.providers.staff import RIGHT, Staff
from tests.identity.auth.support import Node, ServeNode, start_node
from tests.support.client import ApiClient, Response, assert_error
from tests.support.installation import PASSWORD, Installation

INVALID = "Invalid username or password. "


@dataclass(frozen=True, kw_only=True)
class Setup:
    node: Node
    client: ApiClient
    staff: Staff

    async def log_in(
        self, username: str, password: str = RIGHT, provider: str = "acme-staff", **more: Any
    ) -> Response:
        body = {"username": username, "password": password, "provider": provider, **more}
        return await self.client.post("/api/auth/login", body)

    async def logged_in(self, username: str, **more: Any) -> ApiClient:
        answer = await self.log_in(username, **more)
        assert answer.status == 200, answer.content
        return self.client.with_token(answer.json["access_token"])

    async def admin(self) -> ApiClient:
        return self.client.with_token((await self.node.log_in()).access_token)

    async def reasons(self) -> list[tuple[str, str, bool]]:
        """Return action, provider, and whether it was unavailable, of the events of failed logins."""
        events = await self.node.documents("audit_events", {"action": {"$in": ["auth.login_failed"]}})
        found = [(event["action"], event["details"]) for event in events]
        return [
            (action, details["auth_provider"], details.get("provider_unavailable", False))
            for action, details in found
        ]


Start = Callable[..., Awaitable[Setup]]


@pytest.fixture
def start(installation: Installation, http: ServeNode) -> Start:
    async def started(*, seats: int = 0, auth: AuthSettings | None = None) -> Setup:
        staff = Staff(people={"ada": ("ops",), "grace": ()})
        node = await start_node(installation, plugins=[staff], seats=seats, auth=auth)
        return Setup(node=node, client=http(node), staff=staff)

    return started


async def test_a_first_login_makes_a_user_with_the_roles_of_the_groups(start: Start) -> None:
    setup = await start()
    ada = await setup.logged_in("ada")
    me = (await ada.get("/api/auth/me")).json
    assert (me["auth_provider"], me["roles"]) == ("acme-staff", ["operator", "viewer"])
    sessions = (await ada.get("/api/auth/sessions")).json["sessions"]
    assert [one["auth_provider"] for one in sessions] == ["acme-staff"]
    setup.staff.people["ada"] = ()
    again = await setup.logged_in("ada")
    assert (await again.get("/api/auth/me")).json["roles"] == ["viewer"]
    assert_error(
        await again.put("/api/auth/password", {"current_password": RIGHT, "new_password": "x" * 20}),
        400,
        "The password of this account is kept by acme-staff",
    )
    assert_error(await again.post("/api/auth/otp", {"password": RIGHT}), 400, "a matter of acme-staff")


async def test_the_provider_list_names_it(start: Start) -> None:
    setup = await start()
    listed = (await setup.client.get("/api/auth/providers")).json["providers"]
    assert [entry["name"] for entry in listed] == ["local", "ldap", "oidc", "acme-staff"]
    assert listed[-1] == {"name": "acme-staff", "enabled": True, "kinds": ["password"]}


NO_PASSWORD: list[tuple[Any, str]] = [
    ("no-such", "provider: There is no auth provider 'no-such'"),
    ("Acme-Staff", "provider: There is no auth provider 'Acme-Staff'"),
    ("ldap", "provider: LDAP login is not enabled"),
    ("oidc", "provider: OIDC login is not enabled"),
    ("", "provider: Length must be"),
    ("x" * 65, "provider: Length must be"),
    ({"$ne": ""}, "provider: Not a valid string"),
    (["local"], "provider: Not a valid string"),
]


async def test_a_provider_that_takes_no_password(start: Start) -> None:
    setup = await start()
    for provider, text in NO_PASSWORD:
        for username in ("admin", "nobody"):  # the same for both: the answer does not reveal users
            assert_error(await setup.log_in(username, PASSWORD, provider), 400, text)
    assert await setup.reasons() == []
    assert (await setup.log_in("admin", PASSWORD, "local")).status == 200
    body = {"username": "admin", "password": PASSWORD, "provider": "local"}
    assert_error(await setup.client.post("/api/auth/ldap", body), 400, "provider: ")


async def test_failures_count_together_whatever_the_provider(start: Start) -> None:
    setup = await start(auth=AuthSettings(lockout_failures=3))
    assert_error(await setup.log_in("ada", "wrong"), 401, f"{INVALID}2 attempts remaining.")
    assert_error(await setup.log_in("nobody", "wrong"), 401, f"{INVALID}1 attempts remaining.")
    assert_error(await setup.log_in("admin", "wrong", "local"), 401, f"{INVALID}0 attempts remaining.")
    for provider, password in (("acme-staff", RIGHT), ("local", PASSWORD)):
        assert_error(await setup.log_in("ada", password, provider), 429, "Too many failed login attempts")


async def test_a_name_of_another_provider_is_refused_and_never_merged(start: Start) -> None:
    setup = await start()
    setup.staff.people["admin"] = ("ops",)
    assert_error(await setup.log_in("admin"), 401, INVALID)
    await setup.logged_in("ada")
    assert_error(await setup.log_in("ada", RIGHT, "local"), 401, INVALID)


async def test_seats_are_counted(start: Start) -> None:
    setup = await start(seats=1)
    await setup.logged_in("ada", client_type="terminal")
    assert_error(await setup.log_in("grace", client_type="terminal"), 409, "seat_limit_reached")


async def test_users_are_made_for_it_and_disabled_users_stay_out(start: Start) -> None:
    setup = await start()
    admin = await setup.admin()
    new = {"username": "grace", "roles": ["viewer"], "auth_provider": "acme-staff"}
    made = await admin.post("/api/users", new)
    assert (made.status, made.json["auth_provider"]) == (201, "acme-staff")
    assert_error(
        await admin.post("/api/users", {**new, "username": "x", "auth_provider": "acme"}),
        400,
        "auth_provider: there is no provider 'acme'; there are acme-staff, ldap, local, oidc",
    )
    assert_error(
        await admin.post("/api/users", {**new, "username": "x", "password": "y" * 20}), 400, "password: only"
    )
    grace = await setup.logged_in("grace")
    assert (await grace.get("/api/auth/me")).json["id"] == made.json["id"]
    assert (await admin.put(f"/api/users/{made.json['id']}", {"is_active": False})).status == 200
    assert_error(await grace.get("/api/auth/me"), 401, "")
    assert_error(await setup.log_in("grace"), 401, INVALID)


async def test_a_user_of_a_removed_provider_is_shown_and_stays_out(
    start: Start, installation: Installation, http: ServeNode
) -> None:
    setup = await start()
    await setup.logged_in("ada")
    without = await start_node(installation)
    client = http(without)
    body = {"username": "ada", "password": RIGHT}
    for provider, status, text in (
        ("acme-staff", 400, "provider: There is no auth provider"),
        ("local", 401, INVALID),
    ):
        assert_error(await client.post("/api/auth/login", {**body, "provider": provider}), status, text)
    admin = client.with_token((await without.log_in()).access_token)
    users = (await admin.get("/api/users")).json["users"]
    assert {user["username"]: user["auth_provider"] for user in users} == {
        "admin": "local",
        "ada": "acme-staff",
    }
    [ada] = [user for user in users if user["username"] == "ada"]
    assert (await admin.put(f"/api/users/{ada['id']}", {**ada, "display_name": "Ada"})).status == 200
    reset = await admin.put(f"/api/users/{ada['id']}", {"password": "x" * 20})
    assert_error(reset, 400, "password: only for local users")


async def test_a_user_without_an_account_loses_the_sessions_of_this_provider(start: Start) -> None:
    setup = await start()
    body = {"username": "ada", "password": RIGHT, "provider": "acme-staff"}
    tokens = (await setup.client.post("/api/auth/login", body)).json
    setup.staff.ended = AccountEnded("has left")
    fresh = await setup.client.post("/api/auth/refresh", {"refresh_token": tokens["refresh_token"]})
    assert fresh.status == 200
    await setup.node.parts.lookups.settled()
    ada = setup.client.with_token(fresh.json["access_token"])
    assert (await ada.get("/api/auth/me")).status == 401
    [event] = await setup.node.documents("audit_events", {"action": "auth.directory_ended"})
    assert (event["details"]["auth_provider"], event["details"]["reason"]) == ("acme-staff", "has left")


async def fails(username: str) -> Any:
    raise RuntimeError("a mistake")


async def exits(username: str) -> Any:
    raise SystemExit(1)


async def cancels(username: str) -> Any:
    raise asyncio.CancelledError


async def is_away(username: str) -> Any:
    raise ProviderUnavailable("no way to it")


async def answers_a_name(username: str) -> Any:
    return username


async def mixes_up_groups(username: str) -> Any:
    return Identity(username=username, groups="ops")  # type: ignore[arg-type]


async def hangs(username: str) -> Any:
    await asyncio.Event().wait()


async def test_a_provider_that_fails_counts_as_no_failed_login(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("netautod.identity.auth.providers.calls.LONGEST_SECONDS", 0.05)
    setup = await start(auth=AuthSettings(lockout_failures=1))
    broken = (fails, exits, cancels, is_away, answers_a_name, mixes_up_groups, hangs)
    for says in broken:
        setup.staff.says = says
        assert_error(await setup.log_in("ada"), 401, "Invalid username or password.")
    assert await setup.reasons() == [("auth.login_failed", "acme-staff", True)] * len(broken)
    setup.staff.says = None
    assert (await setup.log_in("ada")).status == 200


async def test_a_refusal_by_exception_counts_as_a_wrong_password(start: Start) -> None:
    setup = await start()

    async def refuses(username: str) -> Any:
        raise LoginRefused("locked there")

    setup.staff.says = refuses
    assert_error(await setup.log_in("ada"), 401, f"{INVALID}9 attempts remaining.")


async def test_its_configuration_is_tried_by_name(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    setup = await start()
    admin = await setup.admin()
    tried = await admin.post("/api/auth/providers/acme-staff/test", {"username": "ada"})
    assert (tried.status, tried.json["success"], tried.json["message"]) == (200, True, "looked")

    async def broken(username: str | None, password: str | None) -> ProbeResult:
        raise RuntimeError("a mistake")

    monkeypatch.setattr(setup.staff, "probe", broken)
    tried = await admin.post("/api/auth/providers/acme-staff/test", {})
    assert (tried.status, tried.json["success"]) == (200, False)

    async def silent(username: str | None, password: str | None) -> ProbeResult:
        never: asyncio.Future[ProbeResult] = asyncio.get_running_loop().create_future()
        return await never

    monkeypatch.setattr(setup.staff, "probe", silent)
    monkeypatch.setattr("netautod.identity.auth.service.ANSWER_SECONDS", 0.05)
    tried = await admin.post("/api/auth/providers/acme-staff/test", {})
    assert (tried.status, tried.json["message"]) == (200, "it did not answer in time")
    for name, status in (("ldap", 400), ("local", 400), ("no-such", 404)):
        assert_error(await admin.post(f"/api/auth/providers/{name}/test", {}), status, "")
    ada = await setup.logged_in("ada")
    assert_error(await ada.post("/api/auth/providers/acme-staff/test", {}), 403, "")
    events = await setup.node.documents("audit_events", {"action": "auth.provider_test"})
    assert [(one["resource_id"], one["details"]["success"]) for one in events] == [
        ("acme-staff", True),
        ("acme-staff", False),
        ("acme-staff", False),
    ]


async def test_users_of_an_external_id_are_distinguished_by_provider(start: Start) -> None:
    setup = await start()
    new = NewUser(username="other", roles=("viewer",), auth_provider="ldap", external_id="staff/ada")
    await setup.node.users.create(await setup.node.installation.system(), new)
    ada = await setup.logged_in("ada")
    assert (await ada.get("/api/auth/me")).json["username"] == "ada"
