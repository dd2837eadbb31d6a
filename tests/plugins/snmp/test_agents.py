"""Agents that behave badly: a walk reaches its end or fails with a reason; none counts as half a table."""

from collections.abc import Callable
from typing import Any

import pytest

from netautod.plugin_api import DeviceFailed, SnmpAccess, SnmpUser
from netautod_snmp import gufo_agent as agent_module
from netautod_snmp.agent import WalkFailed
from netautod_snmp.gufo_agent import GufoAgent
from tests.support.servers.snmp_agent import (
    GET,
    OCTETS,
    Behaviour,
    Recording,
    Reply,
    Request,
    element,
    integer,
    oid_of,
    serving_agent,
)

ROOT = "1.3.6.1.2.1.2.2.1.2"
ROWS = {f"{ROOT}.{number}": f"port{number}".encode() for number in range(1, 101)}
BEHIND = {"1.3.6.1.2.1.2.2.1.3.1": b"behind"}


def recording(objects: dict[str, bytes]) -> Recording:
    return Recording.of((oid_of(oid), element(OCTETS, value)) for oid, value in objects.items())


async def walked(
    objects: dict[str, bytes],
    behaviour: Behaviour = lambda request, reply: reply,
    *,
    community: str = "public",
    seconds: float = 0.2,
) -> dict[str, Any]:
    async with serving_agent({"public": recording(objects)}, behaviour) as served:
        access = SnmpAccess(address="127.0.0.1", port=served.port, community=community)
        async with GufoAgent(access, seconds=seconds).opened() as agent:
            return await agent.walk(ROOT)


async def test_a_walk_has_all_rows_in_their_order() -> None:
    found = await walked({**ROWS, **BEHIND})
    assert list(found) == [str(number) for number in range(1, 101)]
    assert found["7"] == b"port7"


async def test_a_walk_that_ends_where_the_objects_of_the_agent_end() -> None:
    assert len(await walked(ROWS)) == 100


async def test_a_table_that_is_not_there() -> None:
    assert await walked(BEHIND) == {}


def after(count: int, then: Callable[[Request, Reply], Reply | None]) -> Behaviour:
    """Answer normally for so many requests."""
    requests = 0

    def behaviour(request: Request, reply: Reply) -> Reply | None:
        nonlocal requests
        requests += 1
        return reply if requests <= count else then(request, reply)

    return behaviour


@pytest.mark.parametrize(
    ("behaviour", "text"),
    [
        pytest.param(
            after(1, lambda request, reply: Reply(error=5)), "the agent answers genErr", id="genErr"
        ),
        pytest.param(
            after(0, lambda request, reply: Reply(error=5)), "the agent answers genErr", id="at once"
        ),
        pytest.param(after(1, lambda request, reply: Reply(error=16)), "authorizationError", id="no access"),
        pytest.param(
            lambda request, reply: Reply(objects=[(oid_of(f"{ROOT}.1"), element(OCTETS, b"x"))]),
            "turns in a circle",
            id="the same row for ever",
        ),
    ],
)
async def test_a_walk_that_does_not_reach_its_end_fails(behaviour: Behaviour, text: str) -> None:
    with pytest.raises(WalkFailed, match=text):
        await walked({**ROWS, **BEHIND}, behaviour)


async def test_an_endless_table_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent_module, "MOST_ROWS", 500)

    def endless(request: Request, reply: Reply) -> Reply:
        last = request.oids[0][-1] if len(request.oids[0]) > 10 else 0
        rows = [(oid_of(f"{ROOT}.{last + step}"), element(OCTETS, b"x")) for step in range(1, 41)]
        return Reply(objects=rows)

    with pytest.raises(WalkFailed, match="more than 500 rows"):
        await walked(ROWS, endless)


async def test_rows_out_of_order_are_rows() -> None:
    objects = {oid: value for oid, value in ROWS.items() if int(oid.rpartition(".")[2]) < 30}
    behind = list(recording(objects).values.items())[::-1]
    end = (oid_of("1.3.6.1.2.1.2.2.1.3.1"), element(OCTETS, b"behind"))

    def reversed_(request: Request, reply: Reply) -> Reply:
        return Reply(objects=[*behind, end])

    found = await walked(objects, reversed_)
    assert list(found) == [str(number) for number in range(29, 0, -1)]


async def test_an_agent_that_says_too_big_gets_smaller_requests() -> None:
    def small(request: Request, reply: Reply) -> Reply:
        return reply if request.repetitions <= 10 else Reply(error=1)

    assert len(await walked({**ROWS, **BEHIND}, small)) == 100


async def test_a_row_that_is_too_long_for_any_answer_fails() -> None:
    with pytest.raises(WalkFailed, match="one row is too long"):
        await walked({**ROWS, **BEHIND}, lambda request, reply: Reply(error=1))


async def test_a_lost_answer_is_requested_again() -> None:
    lost = 0

    def sometimes(request: Request, reply: Reply) -> Reply | None:
        nonlocal lost
        lost += 1
        return None if lost % 2 else reply

    assert len(await walked({**ROWS, **BEHIND}, sometimes)) == 100


async def test_silence_is_a_failure_that_says_what_else_it_could_be() -> None:
    with pytest.raises(DeviceFailed, match="a wrong community or user looks the same") as failed:
        await walked(ROWS, community="wrong", seconds=0.05)
    assert failed.value.kind == "timeout"


async def test_nothing_that_listens() -> None:
    async with serving_agent({}) as served:
        port = served.port
    access = SnmpAccess(address="127.0.0.1", port=port, community="public")
    with pytest.raises(DeviceFailed) as failed:
        async with GufoAgent(access, seconds=0.05).opened() as agent:
            await agent.get(["1.3.6.1.2.1.1.1.0"])
    assert failed.value.kind == "timeout"


async def test_what_there_is_comes_even_if_one_object_makes_the_request_fail() -> None:
    bad = oid_of(f"{ROOT}.3")

    def picky(request: Request, reply: Reply) -> Reply:
        return Reply(error=5) if request.kind == GET and bad in request.oids else reply

    async with serving_agent({"public": recording(ROWS)}, picky) as served:
        access = SnmpAccess(address="127.0.0.1", port=served.port, community="public")
        async with GufoAgent(access, seconds=1).opened() as agent:
            found = await agent.get([f"{ROOT}.{number}" for number in (1, 2, 3, 4, 999)])
    assert found == {f"{ROOT}.{number}": ROWS[f"{ROOT}.{number}"] for number in (1, 2, 4)}


async def test_the_first_answer_says_how_long_it_takes() -> None:
    async with serving_agent({"public": recording(ROWS)}) as served:
        access = SnmpAccess(address="127.0.0.1", port=served.port, community="public")
        async with GufoAgent(access).opened() as agent:
            assert agent.latency_ms is None
            await agent.walk(ROOT)
            assert agent.latency_ms is not None


async def test_numbers_and_addresses() -> None:
    objects = {"1.1": integer(-5), "1.2": integer(2**63, 70), "1.3": element(64, bytes((10, 0, 0, 1)))}
    served_objects = Recording.of((oid_of(f"{ROOT}.{oid}"), value) for oid, value in objects.items())
    async with serving_agent({"public": served_objects}) as served:
        access = SnmpAccess(address="127.0.0.1", port=served.port, community="public")
        async with GufoAgent(access).opened() as agent:
            assert await agent.walk(ROOT) == {"1.1": -5, "1.2": 2**63, "1.3": "10.0.0.1"}


async def test_a_vlan_is_requested_by_its_community() -> None:
    recordings = {"public": recording(ROWS), "public@7": recording({f"{ROOT}.1": b"of vlan 7"})}
    async with serving_agent(recordings) as served:
        access = SnmpAccess(address="127.0.0.1", port=served.port, community="public")
        async with GufoAgent(access).opened() as agent, agent.vlan(7) as own:
            assert await own.walk(ROOT) == {"1": b"of vlan 7"}


@pytest.mark.parametrize("field", ["auth_protocol", "priv_protocol"])
async def test_a_protocol_that_is_not_supported(field: str) -> None:
    more: dict[str, Any] = {"auth_protocol": "md5", "auth_key": "a pass phrase", field: "rot13"}
    async with serving_agent({}) as served:
        user = SnmpUser(name="reader", priv_key="a pass phrase", **more)
        access = SnmpAccess(address="127.0.0.1", port=served.port, user=user)
        with pytest.raises(DeviceFailed, match="rot13"):
            async with GufoAgent(access, seconds=0.05).opened():
                pass
