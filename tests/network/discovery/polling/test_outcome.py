"""What the history tells of a visit."""

import pytest

from netautod.network.discovery.polling.outcome import LONGEST_ERROR, Outcome, failed, method_of, outcome_of
from netautod.network.discovery.visits.service import Visited
from netautod.plugin_api import ArpEntry, Collected, DeviceFacts, MacEntry, Table

FACTS = DeviceFacts(sys_name="sw1")
MAC = MacEntry(mac_address="00:00:5e:00:53:01")
ARP = ArpEntry(ip_address="192.0.2.1")


@pytest.mark.parametrize(
    ("sources", "method"),
    [
        pytest.param({}, None, id="nothing"),
        pytest.param({"status": "snmp", "mac": "snmp"}, "snmp", id="one"),
        pytest.param({"status": "cli"}, "cli", id="the other"),
        pytest.param({"status": "snmp", "vlans": "cli"}, "both", id="SNMP with CLI"),
        pytest.param({"status": "eapi", "mac": "eapi", "arp": "cli"}, "eapi", id="what gave most"),
        pytest.param({"status": "eapi", "mac": "cli", "arp": "cli"}, "cli", id="which is not the first"),
        pytest.param({"mac": "cli", "status": "eapi"}, "eapi", id="a draw: of the first table"),
        pytest.param({"status": "eapi", "mac": "snmp", "arp": "cli"}, "eapi", id="three are not both"),
        pytest.param({"status": "tr069"}, "tr069", id="of a plugin"),
    ],
)
def test_methods(sources: dict[Table, str], method: str | None) -> None:
    assert method_of(sources) == method


@pytest.mark.parametrize(
    ("visited", "expected"),
    [
        pytest.param(
            Visited(
                collected=Collected(status=FACTS, mac=(MAC, MAC)), sources={"status": "snmp", "mac": "snmp"}
            ),
            Outcome(
                state="completed",
                method="snmp",
                sources={"status": "snmp", "mac": "snmp"},
                error=None,
                counts={"mac": 2},
            ),
            id="completed",
        ),
        pytest.param(
            Visited(
                collected=Collected(arp=(), problems={"mac": "the walk stopped"}), sources={"arp": "cli"}
            ),
            Outcome(
                state="partial",
                method="cli",
                sources={"arp": "cli"},
                error="mac: the walk stopped",
                counts={"arp": 0},
            ),
            id="a table is missing",
        ),
        pytest.param(
            Visited(
                collected=Collected(arp=(ARP,), problems={"mac": "mac: cut", "vlans": "refused"}),
                sources={"arp": "cli"},
                failures=("snmp: no answer",),
            ),
            Outcome(
                state="partial",
                method="cli",
                sources={"arp": "cli"},
                error="snmp: no answer; mac: cut; vlans: refused",
                counts={"arp": 1},
            ),
            id="a way failed, and tables are missing",
        ),
        pytest.param(
            Visited(failures=("snmp: no answer", "ssh: connection refused"), reachable=False),
            failed("snmp: no answer; ssh: connection refused"),
            id="failed",
        ),
        pytest.param(Visited(), failed("nothing was read"), id="no transport at all"),
        pytest.param(
            Visited(collected=Collected(problems={"mac": "cut"})), failed("mac: cut"), id="problems alone"
        ),
    ],
)
def test_outcomes(visited: Visited, expected: Outcome) -> None:
    assert outcome_of(visited) == expected


def test_an_error_is_bounded() -> None:
    error = outcome_of(Visited(failures=("x" * 10_000,))).error
    assert error is not None
    assert len(error) == LONGEST_ERROR
