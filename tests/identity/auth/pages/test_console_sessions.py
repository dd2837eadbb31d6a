"""Sessions of the console: begun with a cookie, kept by people, ended everywhere; a code in a second step."""

import asyncio
import hashlib
from datetime import timedelta

import pyotp
import pytest

from netautod.core.errors import TooManyRequests, Unauthenticated
from netautod.core.identity.caller import Caller
from netautod.core.identity.refusals import TokenRefused
from netautod.identity.auth.models import LoginRequest
from netautod.identity.auth.pages.service import CODE_LIFE, CodePrompt
from netautod.identity.auth.settings import AuthSettings
from tests.identity.auth.support import INFO, Node, NodeStarter, ServeNode
from tests.support.client import assert_error
from tests.support.installation import PASSWORD

NEW = "another horse battery staple"
IDLE = 480 * 60
DAY = 24 * 3600


async def log_in(node: Node, username: str = "admin") -> str:
    cookie = await node.parts.page_logins.log_in("local", username, PASSWORD, INFO)
    assert isinstance(cookie, str)
    return cookie


async def caller_by_cookie(node: Node, cookie: str, *, by_person: bool = True) -> Caller:
    return await node.parts.page_callers.caller_of(cookie, INFO, by_person=by_person)


async def refused(node: Node, cookie: str) -> None:
    with pytest.raises(TokenRefused):
        await caller_by_cookie(node, cookie)


async def test_a_login_stores_the_hash_of_256_random_bits_and_no_token(node: Node) -> None:
    cookie = await log_in(node)
    assert len(cookie) == 43
    (row,) = await node.documents("sessions")
    assert row["cookie_hash"] == hashlib.sha256(cookie.encode()).hexdigest()
    assert (row["client_type"], row["auth_provider"]) == ("admin_ui", "local")
    assert cookie not in repr(row)
    assert await node.documents("refresh_tokens") == []
    caller = await caller_by_cookie(node, cookie)
    assert (caller.username, caller.session_id) == ("admin", row["_id"])
    assert caller.permissions == {"*", "notes.read"}
    assert caller.token is None
    assert await node.actions() == ["auth.login"]
    assert await log_in(node) != cookie


@pytest.mark.parametrize(
    "cookie",
    [
        "",
        "x",
        "x" * 42,
        "x" * 43,
        "x" * 44,
        "x" * 43 + "\n",
        "\u00e4" * 43,
        "\ud800" * 43,
        "x" * 100_000,
        "{}",
    ],
)
async def test_what_is_no_cookie_of_a_session(untouched: Node, cookie: str) -> None:
    await refused(untouched, cookie)


async def test_a_cookie_is_no_token_and_a_token_is_no_cookie(node: Node, http: ServeNode) -> None:
    cookie, tokens = await log_in(node), await node.log_in()
    client = http(node)
    for headers in (
        {"Cookie": f"netautod={cookie}"},
        {"Cookie": f"__Host-netautod={cookie}"},
        {"Authorization": f"Bearer {cookie}"},
        {"Authorization": f"Bearer {cookie}", "Cookie": f"netautod={cookie}"},
    ):
        assert_error(await client.get("/api/auth/me", headers=headers), 401)
    assert_error(await client.post("/api/auth/refresh", {"refresh_token": cookie}), 401)
    for token in (tokens.access_token, tokens.refresh_token):
        await refused(node, token)
    hashes = [row["_id"] for row in await node.documents("refresh_tokens")]
    for stored in hashes:
        await refused(node, stored)


async def test_it_ends_without_requests_for_the_idle_time(node: Node) -> None:
    cookie = await log_in(node)
    for _ in range(3):
        node.clock.move(IDLE - 60)
        assert (await caller_by_cookie(node, cookie)).username == "admin"
    for _ in range(7):  # a page that refreshes itself
        node.clock.move(IDLE / 8)
        await caller_by_cookie(node, cookie, by_person=False)
    (row,) = await node.documents("sessions")
    assert row["expires_at"] - node.clock.now() == timedelta(seconds=IDLE / 8)
    assert row["last_activity_at"] == node.clock.now()
    node.clock.move(IDLE / 8)
    await refused(node, cookie)


async def test_requests_of_a_person_are_written_once_a_minute(node: Node) -> None:
    cookie = await log_in(node)
    first_end = (await node.documents("sessions"))[0]["expires_at"]
    for seconds, later in ((59, 0), (1, 60), (59, 60), (1, 120)):
        node.clock.move(seconds)
        await caller_by_cookie(node, cookie)
        (row,) = await node.documents("sessions")
        assert row["expires_at"] - first_end == timedelta(seconds=later), seconds


async def test_a_request_in_the_last_second_keeps_it_although_its_end_was_read_before(node: Node) -> None:
    cookie = await log_in(node)
    node.clock.move(IDLE - 0.5)
    await caller_by_cookie(node, cookie, by_person=False)
    await caller_by_cookie(node, cookie)
    node.clock.move(0.5)
    await caller_by_cookie(node, cookie)


async def test_it_ends_at_the_age_of_the_family_despite_requests(node: Node) -> None:
    cookie = await log_in(node)
    for _ in range(30 * 4 - 1):
        node.clock.move(DAY / 4)
        await caller_by_cookie(node, cookie)
    node.clock.move(DAY / 4 - 1)
    await caller_by_cookie(node, cookie)
    node.clock.move(1)
    await refused(node, cookie)


async def end_by_logout(node: Node, caller: Caller) -> None:
    assert await node.auth.logout(caller) == 1


async def end_by_api(node: Node, caller: Caller) -> None:
    assert caller.session_id is not None
    await node.parts.account.end_session(caller, caller.session_id)


async def end_others(node: Node, caller: Caller) -> None:
    other = await log_in(node, caller.username)
    assert await node.parts.account.end_other_sessions(await caller_by_cookie(node, other)) == 1


async def change_password(node: Node, caller: Caller) -> None:
    other = await caller_by_cookie(node, await log_in(node, caller.username))
    await node.parts.account.change_password(other, PASSWORD, NEW)


async def reset_password(node: Node, caller: Caller) -> None:
    await node.users.set_password(await node.installation.system(), caller.username, NEW)


async def deactivate(node: Node, caller: Caller) -> None:
    await node.users.update(await node.installation.system(), caller.user_id, {"is_active": False})


async def delete(node: Node, caller: Caller) -> None:
    await node.users.delete(await node.installation.system(), caller.user_id)


async def test_it_ends_here_at_once_and_elsewhere_within_a_second(start: NodeStarter) -> None:
    here, there = await start(), await start()
    for end in (
        end_by_logout,
        end_by_api,
        end_others,
        change_password,
        reset_password,
        deactivate,
        delete,
    ):
        name = f"carla-{end.__name__.replace('_', '-')}"
        await here.installation.add(name, "operator")
        cookie = await log_in(here, name)
        caller = await caller_by_cookie(here, cookie)
        assert (await caller_by_cookie(there, cookie)).username == name
        await end(here, caller)
        await refused(here, cookie)
        there.clock.move(1)
        await refused(there, cookie)


async def test_roles_that_are_taken_away_are_gone_within_a_second(start: NodeStarter) -> None:
    here, there = await start(), await start()
    carla = await here.installation.add("carla", "operator")
    cookie = await log_in(here, "carla")
    assert (await caller_by_cookie(there, cookie)).can("tasks.operate")
    await here.users.update(await here.installation.system(), carla.id, {"roles": ["viewer"]})
    there.clock.move(1)
    assert not (await caller_by_cookie(there, cookie)).can("tasks.operate")


async def test_the_own_new_password_leaves_the_session(node: Node) -> None:
    cookie = await log_in(node)
    await node.parts.account.change_password(await caller_by_cookie(node, cookie), PASSWORD, NEW)
    assert (await caller_by_cookie(node, cookie)).username == "admin"


async def test_it_is_listed_with_its_end_and_without_its_cookie(node: Node, http: ServeNode) -> None:
    cookie, tokens = await log_in(node), await node.log_in()
    client = http(node).with_token(tokens.access_token)
    answer = await client.get("/api/auth/sessions")
    shown = {session["id"]: session for session in answer.json["sessions"]}
    mine = shown[(await caller_by_cookie(node, cookie)).session_id]
    assert (mine["client_type"], mine["current"]) == ("admin_ui", False)
    assert hashlib.sha256(cookie.encode()).hexdigest() not in answer.content.decode()
    assert (await client.delete(f"/api/auth/sessions/{mine['id']}")).status == 204
    await refused(node, cookie)


async def test_terminals_seats_do_not_concern_it(start: NodeStarter) -> None:
    node = await start(seats=1)
    await node.auth.login(
        "local", LoginRequest(username="admin", password=PASSWORD, client_type="terminal"), INFO
    )
    await log_in(node)


async def test_who_must_change_the_password_is_blocked(node: Node) -> None:
    await node.installation.add("carla", "operator")
    await node.users.set_password(await node.installation.system(), "carla", PASSWORD, must_change=True)
    caller = await caller_by_cookie(node, await log_in(node, "carla"))
    assert caller.blocked == "Change your password first"


async def test_who_needs_a_code_and_has_none_is_blocked(start: NodeStarter) -> None:
    node = await start(auth=AuthSettings(require_otp_roles=("admin",)))
    assert (await caller_by_cookie(node, await log_in(node))).blocked == "Set up a one-time code first"


async def test_a_wrong_password_is_answered_counted_and_locked_out_as_at_the_api(node: Node) -> None:
    logins = node.parts.page_logins
    for left in range(9, -1, -1):
        with pytest.raises(Unauthenticated, match=rf"^Invalid username or password. {left} attempts"):
            await logins.log_in("local", "admin", "wrong horse battery", INFO)
    with pytest.raises(TooManyRequests, match="Too many failed login attempts"):
        await logins.log_in("local", "admin", PASSWORD, INFO)
    assert await node.documents("sessions") == []
    assert (await node.actions())[-2:] == ["auth.login_failed", "auth.lockout"]


async def test_the_session_that_a_browser_had_before_ends(node: Node) -> None:
    before = await log_in(node)
    await caller_by_cookie(node, before)
    after = await log_in(node)
    await node.parts.page_logins.replace(before)
    await refused(node, before)
    assert (await caller_by_cookie(node, after)).username == "admin"
    await node.parts.page_logins.replace(None)
    await node.parts.page_logins.replace("x" * 43)


class Carla:
    """A user with one-time codes."""

    def __init__(self, node: Node, secret: str, recovery: tuple[str, ...]) -> None:
        self.node, self.secret, self.recovery = node, secret, recovery

    def code(self, steps: int = 0) -> str:
        return pyotp.TOTP(self.secret).generate_otp(int(self.node.clock.now().timestamp()) // 30 + steps)

    async def ticket(self) -> str:
        wanted = await self.node.parts.page_logins.log_in("local", "carla", PASSWORD, INFO)
        assert isinstance(wanted, CodePrompt)
        return wanted.ticket

    async def with_code(self, ticket: str, code: str) -> str:
        return await self.node.parts.page_logins.with_code(ticket, code, INFO)


@pytest.fixture
async def carla(node: Node) -> Carla:
    await node.installation.add("carla", "operator")
    caller = await caller_by_cookie(node, await log_in(node, "carla"))
    new = await node.parts.otp.begin(caller, PASSWORD, None)
    made = Carla(node, new.secret, new.recovery_codes)
    await node.parts.otp.confirm(caller, made.code(-1))
    return made


async def test_a_code_is_required_in_a_second_step(carla: Carla) -> None:
    ticket = await carla.ticket()
    (row,) = await carla.node.documents("console_logins")
    assert ticket not in repr(row)
    assert "auth.otp_required" in await carla.node.actions()
    await refused(carla.node, ticket)
    cookie = await carla.with_code(ticket, carla.code())
    assert (await caller_by_cookie(carla.node, cookie)).username == "carla"


async def test_a_wrong_code_leaves_the_ticket_and_counts(carla: Carla) -> None:
    ticket = await carla.ticket()
    for left in (9, 8):
        with pytest.raises(Unauthenticated, match=rf"{left} attempts remaining"):
            await carla.with_code(ticket, "000000" if carla.code() != "000000" else "000001")
    assert await carla.with_code(ticket, carla.recovery[0])


async def gone(carla: Carla, ticket: str, code: str) -> None:
    with pytest.raises(TokenRefused, match="begin again"):
        await carla.with_code(ticket, code)


async def test_a_ticket_is_used_once(carla: Carla) -> None:
    ticket = await carla.ticket()
    codes = [carla.code(), *carla.recovery]
    given = await asyncio.gather(
        *(carla.with_code(ticket, code) for code in codes[:4]), return_exceptions=True
    )
    assert len([one for one in given if isinstance(one, str)]) == 1, given
    await gone(carla, ticket, codes[5])


@pytest.mark.parametrize("ticket", ["", "x" * 43, "\u00e4", "\ud800", "x" * 100_000])
async def test_what_is_no_ticket(untouched: Node, ticket: str) -> None:
    with pytest.raises(TokenRefused):
        await untouched.parts.page_logins.with_code(ticket, "123456", INFO)


async def test_a_ticket_is_good_for_five_minutes(carla: Carla) -> None:
    ticket = await carla.ticket()
    carla.node.clock.move(CODE_LIFE.total_seconds())
    await gone(carla, ticket, carla.code())


async def test_a_ticket_is_worth_nothing_after_what_ends_sessions(carla: Carla) -> None:
    """Check the user's state before the password was checked, whatever has changed since."""
    node, system = carla.node, await carla.node.installation.system()
    user = await node.users.by_username("carla")
    assert user is not None
    before = len(await node.documents("sessions"))
    ticket = await carla.ticket()
    await node.users.set_password(system, "carla", PASSWORD)
    await gone(carla, ticket, carla.code())
    ticket = await carla.ticket()
    await node.users.update(system, user.id, {"is_active": False})
    await gone(carla, ticket, carla.code())
    await node.users.update(system, user.id, {"is_active": True})
    await gone(carla, ticket, carla.code())
    ticket = await carla.ticket()
    await node.parts.otp.remove(system, user.id)
    await gone(carla, ticket, carla.code())
    other = await node.installation.add("dora", "operator")
    caller = await caller_by_cookie(node, await log_in(node, "dora"))
    new = await node.parts.otp.begin(caller, PASSWORD, None)
    dora = Carla(node, new.secret, new.recovery_codes)
    await node.parts.otp.confirm(caller, dora.code(-1))
    wanted = await node.parts.page_logins.log_in("local", "dora", PASSWORD, INFO)
    assert isinstance(wanted, CodePrompt)
    await node.users.delete(system, other.id)
    await gone(dora, wanted.ticket, dora.code())
    assert len(await node.documents("sessions")) == before + 1


async def test_the_cookie_and_the_ticket_stand_in_no_repr(carla: Carla) -> None:
    wanted = await carla.node.parts.page_logins.log_in("local", "carla", PASSWORD, INFO)
    assert isinstance(wanted, CodePrompt)
    assert wanted.ticket not in repr(wanted)
