"""What counts as a change between two polls of a device."""

from typing import Any

import pytest

from netautod.network.discovery.changes.compare import changes_of
from netautod.network.discovery.tables.checks import neighbor
from netautod.network.discovery.tables.models import Before
from netautod.plugin_api import Collected, Interface, Neighbor


def old(interface: str, name: str | None = None, **more: Any) -> dict[str, Any]:
    return {
        "local_interface": interface,
        "remote_system_name": name,
        "remote_chassis_id": None,
        "remote_mgmt_address": None,
        **more,
    }


def new(interface: str, name: str | None = None, **more: Any) -> Neighbor:
    return Neighbor(local_interface=interface, protocol="lldp", remote_system_name=name, **more)


def told(before: Before, found: Collected, **more: Any) -> list[str]:
    options = {"reachable": True, "failures": 0, "unreachable_after": 3, **more}
    return [
        " ".join(filter(None, (one.kind, one.interface, one.neighbor_name or one.neighbor_chassis_id)))
        for one in changes_of(before, found, **options)
    ]


MAC = "00:00:00:00:00:01"
NEIGHBORS = [
    pytest.param([old("e1", "b")], [new("e1", "b")], [], id="still there"),
    pytest.param([old("e1", "b")], [], ["neighbor_lost e1 b"], id="gone"),
    pytest.param([old("e1", "b")], [new("e2", "b")], ["neighbor_lost e1 b"], id="on another interface"),
    pytest.param([old("e1", "b")], [new("e1", "c")], ["neighbor_lost e1 b"], id="somebody else"),
    pytest.param([old("e1", "b")], [new("e1", "B.example.net")], [], id="another form of the name"),
    pytest.param(
        [old("e1", "b", remote_chassis_id=MAC)],
        [new("e1", "renamed", remote_chassis_id=MAC)],
        [],
        id="a new name",
    ),
    pytest.param(
        [old("e1", None, remote_mgmt_address="10.0.0.1")],
        [new("e1", None, remote_mgmt_address="10.0.0.1", remote_port="other")],
        [],
        id="a new port",
    ),
    pytest.param([old("e1", "b"), old("e1", "b")], [], ["neighbor_lost e1 b"], id="of two protocols once"),
    pytest.param([old("e1", "b"), old("e1", "b")], [new("e1", "b")], [], id="one protocol is left"),
    pytest.param([old("e1")], [], [], id="one that says nothing of itself"),
    pytest.param(
        [old("e1", None, remote_chassis_id=MAC)], [], [f"neighbor_lost e1 {MAC}"], id="one without a name"
    ),
    pytest.param([], [new("e1", "b")], [], id="a new one"),
]


@pytest.mark.parametrize(("before", "now", "expected"), NEIGHBORS)
def test_neighbors(before: list[dict[str, Any]], now: list[Neighbor], expected: list[str]) -> None:
    assert told(Before(neighbors=before), Collected(neighbors=now)) == expected


NOT_NORMALISED = [
    pytest.param({"local_interface": " e1 "}, id="blanks around the interface"),
    pytest.param({"local_interface": "e\x001"}, id="a control character in the interface"),
    pytest.param({"local_interface": "e" * 300}, id="a long interface"),
    pytest.param({"remote_system_name": None, "remote_mgmt_address": "2001:DB8::0:1"}, id="a long address"),
    pytest.param({"remote_system_name": b"b"}, id="bytes as name"),
    pytest.param({"remote_system_name": 7, "remote_chassis_id": MAC}, id="a number as name"),
]


@pytest.mark.parametrize("odd", NOT_NORMALISED)
def test_the_same_again_is_no_change_however_it_is_written(odd: dict[str, Any]) -> None:
    row = Neighbor(**{"local_interface": "e1", "protocol": "lldp", "remote_system_name": "b", **odd})
    assert told(Before(neighbors=[neighbor(row)]), Collected(neighbors=[row])) == []


def test_rows_that_are_none_are_passed_over() -> None:
    before = Before(
        neighbors=[old("e1", "b")],
        interfaces=[{"name": "e1", "oper_status": "up"}, {"name": "e2", "oper_status": "up"}],
    )
    odd: Any = {"local_interface": "e1"}
    down = Interface(name=" e1 ", oper_status="down")
    wrong = Interface(name="e2", oper_status=["down"])  # type: ignore[arg-type]
    found = Collected(neighbors=[odd, new("e1", "b")], interfaces=[odd, wrong, down, down])
    assert told(before, found) == ["interface_down e1"]


def test_a_table_that_was_not_read_tells_nothing() -> None:
    assert told(Before(neighbors=[old("e1", "b")]), Collected()) == []
    assert told(Before(), Collected(neighbors=[])) == []


@pytest.mark.parametrize(
    ("was", "admin", "oper", "expected"),
    [
        pytest.param("up", "up", "down", ["interface_down e1"], id="down"),
        pytest.param("up", "up", "lowerLayerDown", ["interface_down e1"], id="the layer below is down"),
        pytest.param("up", "down", "down", [], id="turned off"),
        pytest.param("up", "up", "up", [], id="still up"),
        pytest.param("up", "up", "dormant", [], id="dormant"),
        pytest.param("down", "up", "down", [], id="it was down"),
        pytest.param(None, "up", "down", [], id="it was unknown"),
        pytest.param("up", None, "down", ["interface_down e1"], id="nothing is known of who turned it off"),
    ],
)
def test_interfaces(was: str | None, admin: str | None, oper: str, expected: list[str]) -> None:
    before = Before(interfaces=[{"name": "e1", "oper_status": was}])
    now = Collected(interfaces=[Interface(name="e1", admin_status=admin, oper_status=oper)])
    assert told(before, now) == expected


@pytest.mark.parametrize(
    ("before", "reachable", "failures", "expected"),
    [
        pytest.param(1, False, 2, [], id="not yet"),
        pytest.param(2, False, 3, ["device_unreachable"], id="now"),
        pytest.param(3, False, 4, [], id="told already"),
        pytest.param(3, True, 0, ["device_reachable"], id="back"),
        pytest.param(9, True, 0, ["device_reachable"], id="back after long"),
        pytest.param(2, True, 0, [], id="it was not told"),
        pytest.param(3, None, 3, [], id="nobody tried"),
        pytest.param(0, True, 0, [], id="as ever"),
    ],
)
def test_reachability(before: int, reachable: bool | None, failures: int, expected: list[str]) -> None:
    found = told(Before(failures=before), Collected(), reachable=reachable, failures=failures)
    assert found == expected
