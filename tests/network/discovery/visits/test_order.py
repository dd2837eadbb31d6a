"""Which transports are asked in which order, and what they give together."""

from dataclasses import replace
from typing import Any

import pytest

from netautod.network.discovery.visits.order import merged, missing_from, not_served, transports_of
from netautod.plugin_api import ArpEntry, Collected, DeviceFacts, Interface, Table
from tests.network.discovery.visits.fakes import DEVICE

SERVED = ("eapi", "snmp", "cli")
FACTS = DeviceFacts(sys_name="sw1", model="X", os_version="1", serial_number="S")
PORTS = (Interface(name="Ethernet1"),)


@pytest.mark.parametrize(
    ("transport", "has_agent", "expected"),
    [
        pytest.param(None, True, ["snmp", "cli"], id="an agent"),
        pytest.param(None, False, ["cli"], id="no agent"),
        pytest.param("eapi", True, ["eapi", "snmp", "cli"], id="model-driven first"),
        pytest.param("restconf", True, ["snmp", "cli"], id="one that nobody serves"),
        pytest.param("cli", True, ["snmp", "cli"], id="the command line stays last"),
        pytest.param("snmp", False, ["cli"], id="SNMP without a credential"),
    ],
)
def test_the_order(transport: str | None, has_agent: bool, expected: list[str]) -> None:
    device = replace(DEVICE, automation_transport=transport)
    assert transports_of(device, served=SERVED, has_agent=has_agent) == expected


def test_a_transport_that_nobody_serves_is_named() -> None:
    assert not_served(replace(DEVICE, automation_transport="restconf"), SERVED) == (
        "restconf: no plugin serves this transport"
    )
    assert not_served(replace(DEVICE, automation_transport="eapi"), SERVED) is None
    assert not_served(DEVICE, SERVED) is None


@pytest.mark.parametrize(
    ("collected", "expected"),
    [
        pytest.param(Collected(), {"status", "interfaces", "arp"}, id="nothing yet"),
        pytest.param(Collected(status=FACTS, interfaces=()), {"arp"}, id="an empty table is given"),
        pytest.param(
            Collected(status=replace(FACTS, model=None), interfaces=()),
            {"arp", "status"},
            id="facts by the way",
        ),
        pytest.param(
            Collected(status=replace(FACTS, model=None), interfaces=(), arp=()),
            set(),
            id="facts alone are no reason",
        ),
    ],
)
def test_what_is_missing(collected: Collected, expected: set[Table]) -> None:
    assert missing_from(collected, {"status", "interfaces", "arp"}) == expected


def together(first: dict[str, Any], then: dict[str, Any], *asked: Table) -> Collected:
    return merged(Collected(**first), Collected(**then), requested=asked or ("status", "interfaces", "arp"))


def test_the_first_who_gave_a_table_keeps_it() -> None:
    found = together({"interfaces": PORTS}, {"interfaces": (), "arp": (ArpEntry(ip_address="10.0.0.1"),)})
    assert (found.interfaces, found.arp) == (PORTS, (ArpEntry(ip_address="10.0.0.1"),))


def test_what_was_not_asked_for_does_not_count() -> None:
    assert together({}, {"interfaces": PORTS, "arp": ()}, "arp").given == {"arp"}


def test_facts_are_filled_one_by_one() -> None:
    first = DeviceFacts(sys_name="sw1", chassis_ids=())
    then = DeviceFacts(sys_name="other", model="X", chassis_ids=("00:00:00:00:00:01",))
    assert together({"status": first}, {"status": then}).status == DeviceFacts(
        sys_name="sw1", model="X", chassis_ids=("00:00:00:00:00:01",)
    )


def test_problems_go_when_the_table_comes_and_add_up_when_it_does_not() -> None:
    first = {"problems": {"arp": "the walk stopped", "interfaces": "no answer"}}
    found = together(first, {"interfaces": PORTS, "problems": {"arp": "refused"}})
    assert found.problems == {"arp": "the walk stopped; refused"}


def test_the_first_latency_counts() -> None:
    assert together({"latency_ms": 1.0}, {"latency_ms": 9.0}).latency_ms == 1.0
    assert together({}, {"latency_ms": 9.0}).latency_ms == 9.0
