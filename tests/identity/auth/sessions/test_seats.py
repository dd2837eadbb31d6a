"""Seats: who is in use, which slots a login may take, and exactly N of many logins on several nodes."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from netautod.core.errors import Conflict, Unauthenticated, Unavailable
from netautod.core.identity.caller import RequestInfo
from netautod.identity.auth.models import LoginRequest, SeatSlot
from netautod.identity.auth.sessions.seats import SeatLimitReached, free_slots
from netautod.identity.auth.sessions.store import SeatStore, SessionStore
from tests.identity.auth.support import INFO, Node, start_node
from tests.support.client import ApiClient, assert_error
from tests.support.installation import PASSWORD, Installation

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
Http = Callable[[Node], ApiClient]
Seated = Callable[[int], Awaitable[Node]]
STRANGER = replace(INFO, ip_address="192.0.2.99")
TERMINAL = {"username": "admin", "password": PASSWORD, "client_type": "terminal"}


def slot(holder: str, *, age: float = 3600, confirmed: bool = True) -> SeatSlot:
    return SeatSlot(holder=holder, taken_at=NOW - timedelta(seconds=age), confirmed=confirmed)


@pytest.mark.parametrize(
    ("slots", "active", "free"),
    [
        pytest.param({}, [], [1, 2, 3], id="none in use yet"),
        pytest.param({1: slot("a"), 2: slot("b")}, ["a", "b"], [3], id="two in use"),
        pytest.param({1: slot("a"), 2: slot("b"), 3: slot("c")}, ["a", "b", "c"], [], id="all in use"),
        pytest.param({1: slot("a"), 2: slot("b"), 3: slot("c")}, ["b"], [1, 3], id="two idle or ended"),
        pytest.param({1: slot("a", age=59, confirmed=False)}, [], [2, 3], id="a login under way"),
        pytest.param({1: slot("a", age=60, confirmed=False)}, [], [1, 2, 3], id="a login that died"),
        pytest.param({1: slot("a", age=1)}, [], [1, 2, 3], id="in and out within a minute"),
        pytest.param({1: slot("a", age=1, confirmed=False)}, ["a"], [2, 3], id="stored, not yet confirmed"),
        pytest.param({}, ["x", "y"], [3], id="two in use without a slot"),
        pytest.param({1: slot("a")}, ["a", "x"], [3], id="one of them without a slot"),
        pytest.param({2: slot("old")}, ["x"], [2, 3], id="the lowest free one is blocked"),
        pytest.param({}, ["v", "w", "x", "y"], [], id="more in use than seats"),
        pytest.param({4: slot("a"), 5: slot("b")}, ["a", "b"], [3], id="slots from before a lower limit"),
    ],
)
def test_which_slots_a_login_may_take(slots: dict[int, SeatSlot], active: list[str], free: list[int]) -> None:
    found = free_slots(slots, active, count=3, now=NOW)
    assert found == [(number, slots.get(number)) for number in free]


@pytest.fixture
def seated(installation: Installation) -> Seated:
    """Return a function: `node = await seated(10)` starts a node with ten seats."""

    async def made(seats: int) -> Node:
        return await start_node(installation, seats=seats)

    return made


async def enter(
    node: Node, client_type: str = "terminal", username: str = "admin", info: RequestInfo = INFO
) -> str:
    request = LoginRequest(username=username, password=PASSWORD, client_type=client_type)
    return (await node.auth.login("local", request, info)).access_token


async def refused(
    node: Node, count: int = 1, *, username: str = "admin", info: RequestInfo = STRANGER
) -> None:
    """Check that a login is refused; by default of another terminal, which has no seat to take over."""
    with pytest.raises(SeatLimitReached) as caught:
        await enter(node, username=username, info=info)
    assert caught.value.text == f"seat_limit_reached: all {count} seats are in use"


async def test_of_a_hundred_logins_at_once_on_three_nodes_ten_succeed(seated: Seated, http: Http) -> None:
    clients = [http(await seated(10)) for _ in range(3)]
    answers = await asyncio.gather(
        *(clients[number % 3].post("/api/auth/login", TERMINAL) for number in range(100))
    )
    assert Counter(answer.status for answer in answers) == {200: 10, 409: 90}
    for answer in answers:
        if answer.status == 409:
            assert_error(answer, 409, "seat_limit_reached: all 10 seats are in use")
    tokens = [answer.json["access_token"] for answer in answers if answer.status == 200]
    for token in tokens:
        assert (await clients[0].with_token(token).get("/api/auth/me")).status == 200
    # As soon as three go, exactly three of many others come in.
    for token in tokens[:3]:
        await clients[1].with_token(token).post("/api/auth/logout")
    answers = await asyncio.gather(
        *(clients[number % 3].post("/api/auth/login", TERMINAL) for number in range(20))
    )
    assert Counter(answer.status for answer in answers) == {200: 3, 409: 17}


async def test_a_login_that_ends_while_another_one_looks_keeps_its_seat(
    seated: Seated, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = await seated(1)
    slots = SeatStore.slots

    async def meanwhile(store: SeatStore) -> Any:
        monkeypatch.setattr(SeatStore, "slots", slots)
        await enter(node)
        return await slots(store)

    monkeypatch.setattr(SeatStore, "slots", meanwhile)
    await refused(node)


async def test_only_terminals_take_seats(seated: Seated) -> None:
    node = await seated(1)
    await enter(node)
    await refused(node)
    await enter(node, "admin_ui")
    assert (await node.actions()).count("auth.seat_refused") == 1
    assert await node.documents("sessions", {"client_type": "terminal", "ended_at": {"$ne": None}}) == []


async def test_a_wrong_password_learns_nothing_of_seats(seated: Seated) -> None:
    node = await seated(1)
    await enter(node)
    request = LoginRequest(username="admin", password="wrong horse battery", client_type="terminal")
    with pytest.raises(Exception, match="Invalid username or password"):
        await node.auth.login("local", request, INFO)


async def test_a_seat_is_free_after_the_idle_time_and_not_before(seated: Seated) -> None:
    node = await seated(1)
    token = await enter(node)
    node.clock.move(59 * 60)
    await node.authenticator.authenticate(token, INFO)
    node.clock.move(120 * 60 - 1)
    await refused(node)
    node.clock.move(1)
    await enter(node, info=STRANGER)


async def test_a_refresh_keeps_the_seat(seated: Seated) -> None:
    node = await seated(1)
    request = LoginRequest(username="admin", password=PASSWORD, client_type="terminal")
    tokens = await node.auth.login("local", request, INFO)
    node.clock.move(119 * 60)
    await node.auth.refresh(tokens.refresh_token, INFO)
    node.clock.move(119 * 60)
    await refused(node)


async def leave_by_logout(node: Node, token: str) -> None:
    await node.auth.logout(await node.authenticator.authenticate(token, INFO))


async def leave_by_disabling(node: Node, token: str) -> None:
    await node.installation.users.disable(await node.installation.system(), "carla")


async def leave_by_reset(node: Node, token: str) -> None:
    await node.installation.users.set_password(await node.installation.system(), "carla", "a third password")


async def leave_by_deletion(node: Node, token: str) -> None:
    carla = await node.installation.users.by_username("carla")
    assert carla is not None
    await node.installation.users.delete(await node.installation.system(), carla.id)


@pytest.mark.parametrize(
    "leave",
    [
        pytest.param(leave_by_logout, id="logout"),
        pytest.param(leave_by_disabling, id="disabled"),
        pytest.param(leave_by_reset, id="password reset"),
        pytest.param(leave_by_deletion, id="deleted"),
    ],
)
async def test_what_frees_a_seat_at_once(
    seated: Seated, leave: Callable[[Node, str], Awaitable[None]]
) -> None:
    node = await seated(1)
    await node.installation.add("carla", "viewer")
    token = await enter(node, username="carla")
    await refused(node)
    await leave(node, token)
    await enter(node)


async def test_who_comes_back_from_idling_counts_again(seated: Seated) -> None:
    node = await seated(2)
    request = LoginRequest(username="admin", password=PASSWORD, client_type="terminal")
    idle = [await node.auth.login("local", request, INFO) for _ in range(2)]
    node.clock.move(120 * 60)
    await enter(node)
    # Only a login is refused: now three terminals are in use, of which two have a slot.
    tokens = [(await node.auth.refresh(found.refresh_token, INFO)).access_token for found in idle]
    await refused(node, 2)
    await leave_by_logout(node, tokens[0])
    await refused(node, 2)
    await leave_by_logout(node, tokens[1])
    await enter(node)


@pytest.mark.parametrize(
    ("username", "info"),
    [
        pytest.param("carla", INFO, id="of another user"),
        pytest.param("admin", STRANGER, id="from another address"),
        pytest.param("admin", replace(INFO, user_agent="other"), id="with another user agent"),
    ],
)
async def test_a_silent_seat_is_not_taken_over(seated: Seated, username: str, info: RequestInfo) -> None:
    node = await seated(1)
    await node.installation.add("carla", "viewer")
    token = await enter(node)
    node.clock.move(3599)
    await refused(node, username=username, info=info)
    await node.authenticator.authenticate(token, INFO)


@pytest.mark.parametrize("seats", [pytest.param(1, id="all taken"), pytest.param(2, id="one is free")])
async def test_a_restarted_terminal_takes_its_own_seat_over(seated: Seated, seats: int) -> None:
    node, elsewhere = await seated(seats), await seated(seats)
    tokens = await node.auth.login("local", LoginRequest(**TERMINAL), INFO)
    await elsewhere.authenticator.authenticate(tokens.access_token, INFO)
    node.clock.move(60)
    await enter(node)
    with pytest.raises(Unauthenticated):
        await node.authenticator.authenticate(tokens.access_token, INFO)
    with pytest.raises(Unauthenticated):
        await elsewhere.authenticator.authenticate(tokens.access_token, INFO)
    with pytest.raises(Unauthenticated):
        await elsewhere.auth.refresh(tokens.refresh_token, INFO)
    assert (await node.actions()).count("auth.session_taken_over") == 1
    for _ in range(seats - 1):
        await enter(node, info=STRANGER)
    await refused(node, seats)


async def test_a_terminal_active_within_the_minute_keeps_its_seat(seated: Seated) -> None:
    node, elsewhere = await seated(1), await seated(1)
    token = await enter(node)
    node.clock.move(5)
    # Too soon after the login to be written at once: it is written with the others.
    await elsewhere.authenticator.authenticate(token, INFO)
    await elsewhere.logins.activity.flush()
    node.clock.move(59.999)
    await refused(node, info=INFO)
    await elsewhere.authenticator.authenticate(token, INFO)
    await elsewhere.logins.activity.flush()
    node.clock.move(59.999)
    await refused(node, info=INFO)
    node.clock.move(0.001)
    await enter(node)


async def test_activity_that_could_not_be_written_is_written_later(
    seated: Seated, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = await seated(1)
    token = await enter(node)
    node.clock.move(5)
    await node.authenticator.authenticate(token, INFO)

    async def away(*args: Any) -> None:
        raise Unavailable("away")

    with monkeypatch.context() as patch:
        patch.setattr(SessionStore, "touch_many", away)
        with pytest.raises(Unavailable):
            await node.logins.activity.flush()
    await node.logins.activity.flush()
    node.clock.move(59.999)
    await refused(node, info=INFO)


async def test_a_terminal_that_wakes_up_while_it_is_taken_over_keeps_its_seat(
    seated: Seated, monkeypatch: pytest.MonkeyPatch
) -> None:
    node, elsewhere = await seated(1), await seated(1)
    token = await enter(node)
    node.clock.move(60)
    real = SessionStore.end_silent

    async def woken(self: SessionStore, *args: Any) -> bool:
        await elsewhere.authenticator.authenticate(token, INFO)
        return await real(self, *args)

    with monkeypatch.context() as patch:
        patch.setattr(SessionStore, "end_silent", woken)
        await refused(node, info=INFO)
    await elsewhere.authenticator.authenticate(token, INFO)
    assert "auth.session_taken_over" not in await node.actions()
    await leave_by_logout(node, token)
    await enter(node, info=STRANGER)
    await refused(node)


async def test_of_many_restarts_at_once_on_three_nodes_one_gets_the_seat(seated: Seated, http: Http) -> None:
    nodes = [await seated(3) for _ in range(3)]
    clients = [http(node) for node in nodes]
    own, others = {"User-Agent": "own"}, {"User-Agent": "others"}
    for headers in (own, own, others):
        assert (await clients[0].post("/api/auth/login", TERMINAL, headers=headers)).status == 200
    nodes[0].clock.move(60)
    answers = await asyncio.gather(
        *(clients[number % 3].post("/api/auth/login", TERMINAL, headers=own) for number in range(20))
    )
    assert Counter(answer.status for answer in answers) == {200: 2, 409: 18}
    living = await nodes[0].documents("sessions", {"ended_at": None})
    assert sorted(session["user_agent"] for session in living) == ["others", "own", "own"]
    assert (await nodes[0].actions()).count("auth.session_taken_over") == 2


async def test_all_that_is_left_of_a_terminal_goes_when_it_comes_back(seated: Seated) -> None:
    node = await seated(3)
    for _ in range(3):
        await enter(node)
    node.clock.move(60)
    await enter(node)
    assert len(await node.documents("sessions", {"ended_at": None})) == 1
    await enter(node, info=STRANGER)
    await enter(node, info=STRANGER)
    await refused(node, 3)


async def test_without_a_limit_no_terminal_ends_another(seated: Seated) -> None:
    node = await seated(0)
    token = await enter(node)
    node.clock.move(3599)
    await enter(node)
    await node.authenticator.authenticate(token, INFO)


async def test_a_login_in_the_browser_takes_no_terminal_over(seated: Seated) -> None:
    node = await seated(1)
    token = await enter(node)
    node.clock.move(60)
    await enter(node, "admin_ui")
    await node.authenticator.authenticate(token, INFO)


async def test_a_lower_limit_holds_for_new_logins(seated: Seated) -> None:
    many, few = await seated(3), await seated(1)
    tokens = [await enter(many) for _ in range(3)]
    for token in tokens[:2]:
        await refused(few)
        await leave_by_logout(many, token)
    await refused(few)
    await leave_by_logout(many, tokens[2])
    await enter(few)


async def test_a_login_that_died_holds_its_seat_for_a_minute(
    seated: Seated, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = await seated(1)

    async def die(*args: Any) -> None:
        raise KeyError

    with monkeypatch.context() as patch:
        patch.setattr(SessionStore, "insert", die)
        with pytest.raises(KeyError):
            await enter(node)
    node.clock.move(59)
    await refused(node)
    node.clock.move(1)
    await enter(node)


async def test_a_login_that_slept_for_a_minute_is_refused_if_its_seat_is_gone(
    seated: Seated, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = await seated(1)
    real = SessionStore.insert

    async def slept(self: SessionStore, *args: Any) -> None:
        monkeypatch.setattr(SessionStore, "insert", real)
        node.clock.move(60)
        await enter(node)
        await real(self, *args)

    monkeypatch.setattr(SessionStore, "insert", slept)
    with pytest.raises(Conflict, match="all 1 seats"):
        await enter(node)
    assert len(await node.documents("sessions", {"ended_at": None})) == 1
