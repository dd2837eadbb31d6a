"""One-time codes over HTTP and several nodes: set up, required, used once, replaced, removed."""

import asyncio
from collections.abc import Callable
from typing import Any

import pyotp
import pytest

from netautod.assembly.data.stores import SEALED_FIELDS
from netautod.core.clock import SystemClock
from netautod.core.errors import Unauthenticated
from netautod.identity.auth.otp.models import ActiveCodes, PendingCodes, fitting_steps, recovery_hash
from netautod.identity.auth.settings import AuthSettings
from netautod.secrets.vault.rewrapping import rewrap
from tests.identity.auth.support import Node, NodeStarter
from tests.support.client import ApiClient, Response, assert_error
from tests.support.installation import PASSWORD

Http = Callable[[Node], ApiClient]
WRONG = "Invalid username or password. "
LOGIN = {"username": "carla", "password": PASSWORD}


def code(node: Node, secret: str, steps: int = 0) -> str:
    return pyotp.TOTP(secret).generate_otp(int(node.clock.now().timestamp()) // 30 + steps)


async def log_in(client: ApiClient, **fields: Any) -> Response:
    return await client.post("/api/auth/login", {**LOGIN, **fields})


def test_no_secret_stands_in_what_a_log_may_show() -> None:
    now = SystemClock().now()
    same: dict[str, Any] = {"id": "i", "sealed": {"data": "hunter2"}, "recovery": ("hunter3",)}
    shown = [
        PendingCodes(**same, created_at=now),
        ActiveCodes(**same, last_step=1, confirmed_at=now),
    ]
    assert "hunter" not in repr(shown)


class Carla:
    """A local user on one node, with her session."""

    def __init__(self, node: Node, client: ApiClient, api: ApiClient) -> None:
        self.node, self.client, self.api = node, client, api

    async def set_up(self) -> tuple[str, list[str]]:
        """Return the secret and recovery codes, confirmed with the code of the step before this one."""
        made = await self.api.post("/api/auth/otp", {"password": PASSWORD})
        assert made.status == 200
        secret = made.json["secret"]
        confirmed = await self.api.post("/api/auth/otp/confirm", {"code": code(self.node, secret, -1)})
        assert confirmed.status == 204
        return secret, made.json["recovery_codes"]


@pytest.fixture
async def carla(node: Node, http: Http) -> Carla:
    client = http(node)
    await node.installation.add("carla", "viewer")
    return Carla(node, client, client.with_token((await node.log_in("carla")).access_token))


async def test_a_login_requires_a_code_once_it_is_confirmed_and_takes_each_code_once(carla: Carla) -> None:
    made = (await carla.api.post("/api/auth/otp", {"password": PASSWORD})).json
    assert pyotp.parse_uri(made["otpauth_uri"]).secret == made["secret"]
    assert len(set(made["recovery_codes"])) == 10
    assert (await log_in(carla.client)).status == 200  # pending is not in force
    assert (await carla.api.get("/api/auth/me")).json["otp_enabled"] is False
    first = code(carla.node, made["secret"])
    assert_error(
        await carla.api.post("/api/auth/otp/confirm", {"code": "000000"}), 401, "9 attempts remaining"
    )
    assert (await carla.api.post("/api/auth/otp/confirm", {"code": first})).status == 204
    assert (await carla.api.get("/api/auth/me")).json["otp_enabled"] is True
    assert_error(await log_in(carla.client), 401, "One-time code required")
    assert_error(await log_in(carla.client, otp=first), 401, WRONG)
    before = code(carla.node, made["secret"], -1)
    assert_error(await log_in(carla.client, otp=before), 401, WRONG)
    after = code(carla.node, made["secret"], 1)
    assert (await log_in(carla.client, otp=after)).status == 200
    assert_error(await log_in(carla.client, otp=after), 401, WRONG)
    carla.node.clock.move(60)
    assert (await log_in(carla.client, otp=code(carla.node, made["secret"]))).status == 200
    events = await carla.node.actions()
    assert {"auth.otp_begin", "auth.otp_enable", "auth.otp_failed", "auth.otp_required"} <= set(events)


async def test_without_a_code_nothing_is_counted_and_a_wrong_one_is_answered_as_a_wrong_password(
    carla: Carla,
) -> None:
    await carla.set_up()
    for _ in range(12):
        assert_error(await log_in(carla.client), 401, "One-time code required")
    wrong_code = await log_in(carla.client, otp="123456")
    wrong_password = await log_in(carla.client, password="not this one", otp="123456")
    assert wrong_code.json == {"error": "Invalid username or password. 9 attempts remaining."}
    assert wrong_password.json == {"error": "Invalid username or password. 8 attempts remaining."}
    assert_error(await log_in(carla.client, password="not this one"), 401, WRONG)


async def test_of_twenty_logins_with_one_code_over_two_nodes_one_succeeds(
    start: NodeStarter, http: Http
) -> None:
    nodes = [await start(), await start()]
    clients = [http(node) for node in nodes]
    await nodes[0].installation.add("carla", "viewer")
    api = clients[0].with_token((await nodes[0].log_in("carla")).access_token)
    secret, recovery = await Carla(nodes[0], clients[0], api).set_up()
    for once in (code(nodes[0], secret), recovery[3]):
        answers = await asyncio.gather(*(log_in(clients[n % 2], otp=once) for n in range(8)))
        assert [answer.status for answer in answers].count(200) == 1


async def test_a_recovery_code_works_once_however_it_is_typed(carla: Carla) -> None:
    _, recovery = await carla.set_up()
    assert (await log_in(carla.client, otp=f" {recovery[0].upper().replace('-', ' ')}")).status == 200
    assert_error(await log_in(carla.client, otp=recovery[0]), 401, WRONG)
    assert (await log_in(carla.client, otp=recovery[1])).status == 200
    rows = str(await carla.node.documents("users"))
    assert not any(one.replace("-", "") in rows.replace("-", "") for one in recovery)


async def test_new_codes_take_the_place_of_the_old_ones_when_they_are_confirmed(carla: Carla) -> None:
    old, recovery = await carla.set_up()
    body = {"password": PASSWORD}
    assert_error(await carla.api.post("/api/auth/otp", body), 401, "One-time code required")
    assert_error(await carla.api.post("/api/auth/otp", {**body, "code": "123456"}), 401, "9 attempts")
    made = await carla.api.post("/api/auth/otp", {**body, "code": code(carla.node, old)})
    carla.node.clock.move(30)
    assert (await log_in(carla.client, otp=code(carla.node, old))).status == 200
    fresh = {"code": code(carla.node, made.json["secret"], -1)}
    assert (await carla.api.post("/api/auth/otp/confirm", fresh)).status == 204
    carla.node.clock.move(30)
    for out_of_use in (code(carla.node, old), recovery[0]):
        assert_error(await log_in(carla.client, otp=out_of_use), 401, WRONG)
    assert (await log_in(carla.client, otp=code(carla.node, made.json["secret"]))).status == 200


async def test_what_waits_too_long_or_not_at_all_cannot_be_confirmed(carla: Carla) -> None:
    confirm = {"code": "123456"}
    assert_error(await carla.api.post("/api/auth/otp/confirm", confirm), 409, "POST /api/auth/otp")
    made = (await carla.api.post("/api/auth/otp", {"password": PASSWORD})).json
    carla.node.clock.move(901)
    late = {"code": code(carla.node, made["secret"])}
    assert_error(await carla.api.post("/api/auth/otp/confirm", late), 409, "POST /api/auth/otp")


async def test_codes_end_with_password_and_code_and_outlive_a_new_password(carla: Carla) -> None:
    async def delete(path: str, body: dict[str, str]) -> Response:
        return await carla.api.request("DELETE", path, body)

    both = {"password": PASSWORD, "code": "123456"}
    assert_error(await delete("/api/auth/otp", both), 404, "No one-time code is set up")
    secret, _ = await carla.set_up()
    changed = {"current_password": PASSWORD, "new_password": "another long password"}
    assert (await carla.api.put("/api/auth/password", changed)).status == 200
    assert_error(await log_in(carla.client, password="another long password"), 401, "One-time code required")
    right = {"password": "another long password", "code": code(carla.node, secret)}
    assert_error(await delete("/api/auth/otp", {**right, "password": PASSWORD}), 401, "9 attempts")
    assert_error(await delete("/api/auth/otp", {**right, "code": "123456"}), 401, "8 attempts")
    assert (await delete("/api/auth/otp", right)).status == 204
    assert (await log_in(carla.client, password="another long password")).status == 200
    assert "auth.otp_disable" in await carla.node.actions()


async def test_a_manager_removes_the_codes_of_users_who_are_not_stronger(carla: Carla, http: Http) -> None:
    await carla.set_up()
    await carla.node.installation.add("boss", "admin")
    admin = carla.client.with_token((await carla.node.log_in()).access_token)
    role = {"name": "helper", "permissions": ["users.manage", "devices.access", "docs.read"]}
    assert (await admin.post("/api/roles", role)).status == 201
    eve = await carla.node.installation.add("eve", "helper")
    manager = carla.client.with_token((await carla.node.log_in("eve")).access_token)
    ids = {user["username"]: user["id"] for user in (await admin.get("/api/users")).json["users"]}
    assert_error(await manager.delete(f"/api/users/{ids['boss']}/otp"), 403, "permissions that you do not")
    assert_error(await manager.delete(f"/api/users/{eve.id}/otp"), 403, "Your own one-time codes")
    assert_error(await carla.api.delete(f"/api/users/{ids['boss']}/otp"), 403, "Insufficient")
    assert (await manager.delete(f"/api/users/{ids['carla']}/otp")).status == 204
    assert_error(await manager.delete(f"/api/users/{ids['carla']}/otp"), 404, "No one-time code")
    assert (await log_in(carla.client)).status == 200


async def test_api_tokens_and_other_providers_accounts_have_no_part_in_it(carla: Carla) -> None:
    token = (await carla.api.post("/api/auth/tokens", {"name": "m", "permissions": []})).json["token"]
    machine = carla.client.with_token(token)
    for method, path in (("POST", "/otp"), ("POST", "/otp/confirm"), ("DELETE", "/otp")):
        body = {"password": PASSWORD, "code": "123456"}
        sent = {key: body[key] for key in (("code",) if "confirm" in path else ("password", "code"))}
        assert_error(await machine.request(method, f"/api/auth{path}", sent), 403, "API token")
    users = carla.node.installation.database.collection("users")
    await users.update({"username": "carla"}, {"$set": {"auth_provider": "ldap"}})
    carla.node.clock.move(1)
    assert_error(await carla.api.post("/api/auth/otp", {"password": PASSWORD}), 400, "ldap")


async def test_a_role_that_requires_codes_opens_nothing_else_before(
    start: NodeStarter, http: Http, carla: Carla
) -> None:
    node = await start(auth=AuthSettings(require_otp_roles=("viewer",)))
    client = http(node)
    api = client.with_token(carla.api.token)
    token = (await carla.api.post("/api/auth/tokens", {"name": "m", "permissions": []})).json["token"]
    for path in ("/api/users", "/api/roles", "/api/ssh-ca", "/api/audit"):
        assert_error(await api.get(path), 403, "Set up a one-time code first")
    assert_error(
        await api.post("/api/auth/tokens", {"name": "n", "permissions": []}), 403, "Set up a one-time code"
    )
    assert (await client.with_token(token).get("/api/ssh-ca")).status == 200  # machines type no codes
    assert (await api.get("/api/auth/me")).status == 200
    await Carla(node, client, api).set_up()
    assert (await api.get("/api/ssh-ca")).status == 200


async def test_a_new_organization_key_takes_the_secrets_along(carla: Carla) -> None:
    secret, _ = await carla.set_up()
    node = carla.node
    org_id = await node.installation.organizations.default_id()
    await node.installation.vault.rotate_organization_key(org_id)
    done = await rewrap(node.installation.vault, node.installation.database, SEALED_FIELDS)
    assert (done.rewrapped >= 1, done.failed) == (True, 0)
    assert (await log_in(carla.client, otp=code(node, secret))).status == 200


async def test_guesses_at_the_code_end_from_everywhere_and_leave_the_owner_at_his_desk_his_own(
    carla: Carla,
) -> None:
    secret, _ = await carla.set_up()
    thief = [{"X-Forwarded-For": f"198.51.100.{number}"} for number in range(12)]
    answers = [
        await carla.client.post("/api/auth/login", {**LOGIN, "otp": "000000"}, headers=headers)
        for headers in thief
    ]
    assert [answer.status for answer in answers] == [401] * 10 + [429] * 2
    desk = {"X-Forwarded-For": "192.0.2.1"}
    own = {**LOGIN, "otp": code(carla.node, secret)}
    assert (await carla.client.post("/api/auth/login", own, headers=desk)).status == 200


@pytest.mark.parametrize("typed", ["", "12345", "1234567", "\u0661\u0662\u0663\u0664\u0665\u0666", "12345a"])
def test_what_is_no_code_fits_no_step(typed: str, node: Node) -> None:
    assert fitting_steps(pyotp.random_base32(), typed, node.clock.now()) == []
    assert recovery_hash(b"key", "user", typed) is None


async def test_a_code_is_taken_one_step_early_or_late_and_no_more(carla: Carla) -> None:
    secret, now = pyotp.random_base32(), carla.node.clock.now()
    fits = [bool(fitting_steps(secret, code(carla.node, secret, step), now)) for step in range(-3, 4)]
    assert fits == [False, False, True, True, True, False, False]


async def test_the_gate_before_the_password_is_the_same_for_who_has_codes(carla: Carla) -> None:
    await carla.set_up()
    with pytest.raises(Unauthenticated, match="attempts remaining"):
        await carla.node.log_in("carla", "not this one")
