"""Lockout by address and the slow-down by account, over several nodes."""

import asyncio

import pytest

from netautod.core.errors import TooManyRequests
from netautod.core.net.addresses import group_of
from netautod.identity.auth.lockout.codes import FREE_TRIES
from netautod.identity.auth.lockout.known_addresses import MOST
from tests.identity.auth.support import Node, NodeStarter

ADDRESS = "192.0.2.7"


async def fail(node: Node, times: int, *, address: str = ADDRESS, username: str = "admin") -> list[int]:
    return [await failed(node, address, username) for _ in range(times)]


async def failed(node: Node, address: str = ADDRESS, username: str = "admin") -> int:
    return await node.lockout.failed(await node.lockout.admit(address, username))


async def succeed(node: Node, address: str, username: str) -> None:
    await node.lockout.succeeded(await node.lockout.admit(address, username))


async def locked_for(node: Node, address: str = ADDRESS, username: str = "someone") -> int:
    """Return the seconds left; 0 if the address may try."""
    try:
        await node.lockout.admit(address, username)
    except TooManyRequests as refusal:
        return refusal.retry_after
    return 0


async def test_the_tenth_failure_locks_the_address_for_all_accounts(start: NodeStarter) -> None:
    nodes = [await start(), await start()]
    remaining = [await failed(nodes[number % 2], ADDRESS, f"name-{number}") for number in range(10)]
    assert remaining == [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]
    for node in nodes:
        assert await locked_for(node, username="admin") == 900
        assert await locked_for(node, address="192.0.2.8") == 0


async def test_tries_while_locked_do_not_extend_it_and_afterwards_all_ten_are_back(node: Node) -> None:
    await fail(node, 10)
    node.clock.move(0.5)
    assert await locked_for(node) == 900
    node.clock.move(899)
    assert await locked_for(node) == 1
    with pytest.raises(TooManyRequests):
        await failed(node)
    node.clock.move(0.5)
    assert await locked_for(node) == 0
    assert await fail(node, 10) == [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]


async def test_a_failure_counts_for_fifteen_minutes(node: Node) -> None:
    await fail(node, 5)
    node.clock.move(600)
    assert await fail(node, 1) == [4]
    node.clock.move(299.999)
    assert await fail(node, 1) == [3]
    node.clock.move(0.001)  # the five are 900 s old now
    assert await fail(node, 1) == [7]


async def test_a_success_clears_only_that_accounts_failures(node: Node) -> None:
    await fail(node, 5, username="victim")
    await fail(node, 2, username="own")
    await succeed(node, ADDRESS, "OWN ")
    assert await fail(node, 1, username="victim") == [4]
    await succeed(node, ADDRESS, "victim")
    assert await fail(node, 1, username="other") == [9]


async def test_an_own_account_does_not_help_to_guess_at_others(node: Node) -> None:
    for _ in range(9):
        await fail(node, 1, username="victim")
        await succeed(node, ADDRESS, "own")
    assert await fail(node, 1, username="victim") == [0]
    with pytest.raises(TooManyRequests):
        await succeed(node, ADDRESS, "own")


async def test_forty_failures_at_once_over_two_nodes_count_ten(start: NodeStarter) -> None:
    nodes = [await start(), await start()]
    results = await asyncio.gather(
        *(failed(nodes[number % 2]) for number in range(40)), return_exceptions=True
    )
    assert sorted(result for result in results if isinstance(result, int)) == list(range(10))
    assert sum(isinstance(result, TooManyRequests) for result in results) == 30
    (row,) = await nodes[0].documents("login_failures", {"_id": f"address:{ADDRESS}"})
    assert len(row["failures"]) == 10  # a flood does not make the row grow


@pytest.mark.parametrize(
    ("first", "second", "together"),
    [
        pytest.param("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", True, id="one IPv6 /64"),
        pytest.param("2001:db8:1:2::1", "2001:db8:1:3::1", False, id="the next /64"),
        pytest.param("::ffff:192.0.2.7", "192.0.2.7", True, id="IPv4 inside IPv6"),
        pytest.param("192.0.2.7", "192.0.2.8", False, id="two IPv4 addresses"),
        pytest.param("fe80::1%eth0", "fe80::2", True, id="link-local with a zone"),
        pytest.param("", "nonsense", True, id="what is no address counts as one client"),
    ],
)
def test_what_counts_as_one_client(first: str, second: str, together: bool) -> None:
    assert (group_of(first) == group_of(second)) is together


async def test_a_guessed_account_is_slowed_down_from_strangers_addresses_but_never_locked(node: Node) -> None:
    for number in range(10):
        await fail(node, 1, address=f"198.51.100.{number}")
    await node.lockout.admit("203.0.113.1", "nobody-else")
    assert node.pauses == []
    addresses = [f"203.0.113.{number}" for number in range(8)]
    refused = [await locked_for(node, address=address, username="Admin") for address in addresses]
    assert node.pauses == [0, 1, 2, 3, 4, 5]
    assert refused == [0, 0, 0, 0, 0, 0, 6, 6]
    node.clock.move(6)
    assert await locked_for(node, username="admin") == 0
    assert node.pauses[-1] == 0


async def test_a_success_or_fifteen_quiet_minutes_end_the_slow_down(node: Node) -> None:
    for ending in ("success", "time"):
        for number in range(10):
            await fail(node, 1, address=f"198.51.100.{number}")
        if ending == "success":
            await succeed(node, "203.0.113.1", "admin")
        else:
            node.clock.move(900)
        node.pauses.clear()
        await node.lockout.admit("203.0.113.9", "admin")
        assert node.pauses == []


async def test_unlock_clears_the_account_and_the_addresses_that_failed_at_it(node: Node) -> None:
    await fail(node, 9)
    await fail(node, 1, username="other")
    assert await locked_for(node) == 900
    await node.lockout.unlock("nobody")
    assert await locked_for(node) == 900
    await node.lockout.unlock("Admin")
    assert await locked_for(node, username="admin") == 0
    assert await fail(node, 1) == [8]


async def test_counters_hold_no_name_and_expire(node: Node) -> None:
    await fail(node, 10, username="hunter2-typed-into-the-wrong-field")
    rows = await node.documents("login_failures")
    assert "hunter2" not in str(rows)
    expected = node.clock.now().timestamp() + 900
    assert [row["expires_at"].timestamp() for row in rows] == [expected, expected]


DESK = "203.0.113.200"


async def guessed_at(node: Node, username: str = "admin") -> None:
    for number in range(10):
        await fail(node, 1, address=f"198.51.100.{number}", username=username)


@pytest.mark.parametrize(
    ("desk", "from_there", "days", "slowed"),
    [
        pytest.param(DESK, DESK, 0, False, id="the desk of the last login"),
        pytest.param(DESK, DESK, 29.9, False, id="not seen for nearly 30 days"),
        pytest.param(DESK, DESK, 30, True, id="not seen for 30 days"),
        pytest.param(DESK, "203.0.113.201", 0, True, id="the desk's neighbour"),
        pytest.param("2001:db8:1:2::1", "2001:db8:1:2:f::9", 0, False, id="the same IPv6 /64"),
        pytest.param("2001:db8:1:2::1", "2001:db8:1:3::1", 0, True, id="the next IPv6 /64"),
    ],
)
async def test_strangers_slow_down_strangers_and_no_known_address(
    start: NodeStarter, desk: str, from_there: str, days: float, slowed: bool
) -> None:
    node, other = await start(), await start()
    await succeed(other, desk, "Admin")
    node.clock.move(days * 86400)
    await guessed_at(node)
    for _ in range(20):
        try:
            await node.lockout.admit(from_there, "admin")
        except TooManyRequests:
            break
    assert bool(node.pauses) is slowed


@pytest.mark.parametrize(
    "typed",
    [
        pytest.param(" ADMIN ", id="blanks and capitals"),
        pytest.param("\uff41dmin", id="a letter of full width"),
        pytest.param("ad\u00admin", id="a soft hyphen"),
        pytest.param("adm\u200bin", id="a space without width"),
        pytest.param("\u00e1dmi\u0301n", id="accents"),
    ],
)
async def test_a_name_that_a_directory_takes_for_the_same_has_no_tries_of_its_own(
    node: Node, typed: str
) -> None:
    await guessed_at(node, typed)
    await node.lockout.admit("203.0.113.1", "admin")
    assert node.pauses == [0]
    await node.lockout.admit("203.0.113.2", "a dmin")
    assert node.pauses == [0]


async def test_failures_at_a_known_address_slow_no_login_down(node: Node) -> None:
    await succeed(node, DESK, "admin")
    await fail(node, 10, address=DESK)
    await node.lockout.admit("198.51.100.1", "admin")
    assert node.pauses == []


async def test_a_login_at_the_own_desk_gives_strangers_no_new_tries(node: Node) -> None:
    await succeed(node, DESK, "admin")
    await guessed_at(node)
    await succeed(node, DESK, "admin")
    assert node.pauses == []
    await node.lockout.admit("198.51.100.77", "admin")
    assert node.pauses == [0]


@pytest.mark.parametrize("username", ["admin", "nobody-of-that-name"])
async def test_of_many_strangers_at_once_ten_are_answered_and_the_others_take_turns(
    start: NodeStarter, username: str
) -> None:
    nodes = [await start(), await start()]
    attempts = await asyncio.gather(
        *(nodes[number % 2].lockout.admit(f"198.51.100.{number}", username) for number in range(60))
    )
    results = await asyncio.gather(
        *(nodes[number % 2].lockout.failed(attempt) for number, attempt in enumerate(attempts)),
        return_exceptions=True,
    )
    assert sum(isinstance(result, TooManyRequests) for result in results) == 44
    assert sorted(nodes[0].pauses + nodes[1].pauses) == [0, 1, 2, 3, 4, 5]


async def test_a_right_password_among_many_wrong_ones_is_answered_no_sooner_than_they(node: Node) -> None:
    attempt = await node.lockout.admit("203.0.113.1", "admin")
    others = [await node.lockout.admit(f"198.51.100.{number}", "admin") for number in range(20)]
    for other in others[:16]:
        await node.lockout.failed(other)
    with pytest.raises(TooManyRequests):
        await node.lockout.passed(attempt)
    with pytest.raises(TooManyRequests):
        await node.lockout.succeeded(attempt)
    with pytest.raises(TooManyRequests):
        await node.lockout.failed(others[-1])


async def test_an_account_keeps_its_hundred_newest_addresses_and_no_name(node: Node) -> None:
    addresses = [f"203.0.113.{number}" for number in range(MOST + 1)]
    for address in [*addresses, addresses[-1]]:
        await succeed(node, address, "admin")
    (row,) = await node.documents("known_addresses")
    assert [one["group"] for one in row["groups"]] == addresses[1:]
    assert "admin" not in row["_id"]


async def tries_left(nodes: list[Node], address: str) -> int:
    attempts = [await node.lockout.admit(address, "admin") for node in nodes * 20]
    results = await asyncio.gather(
        *(nodes[number % len(nodes)].lockout.admit_code(one) for number, one in enumerate(attempts)),
        return_exceptions=True,
    )
    return sum(result is None for result in results)


async def test_wrong_codes_are_bounded_over_nodes_and_addresses_for_longer_each_time(
    start: NodeStarter,
) -> None:
    nodes = [await start(), await start()]
    await succeed(nodes[0], DESK, "admin")
    assert await tries_left(nodes, "198.51.100.1") == FREE_TRIES
    for seconds in (900, 1800, 3600):
        assert await tries_left(nodes, "198.51.100.2") == 0
        nodes[0].clock.move(seconds - 1)
        assert await tries_left(nodes, "198.51.100.3") == 0
        nodes[0].clock.move(1)
        assert await tries_left(nodes, "198.51.100.4") == 1
    # The owner has other tries at a known address; and a right code restores them all.
    assert await tries_left(nodes, DESK) == FREE_TRIES
    await nodes[1].lockout.code_accepted(await nodes[1].lockout.admit(DESK, "admin"))
    assert await tries_left(nodes, DESK) == FREE_TRIES
    nodes[0].clock.move(86400)
    assert await tries_left(nodes, "198.51.100.5") == 1


async def test_unlock_gives_the_tries_at_codes_back(node: Node) -> None:
    assert await tries_left([node], DESK) == FREE_TRIES
    await node.lockout.unlock("admin")
    assert await tries_left([node], DESK) == FREE_TRIES
