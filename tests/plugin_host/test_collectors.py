"""Collectors of plugins: one for each transport, and none that could not work."""

import pytest

from tests.plugin_host.conftest import Installed, errors

COLLECTOR = """
from netautod.plugin_api import Collected, hookimpl

class Acme:
    transport = {transport}
    tables = {tables}
    {defined} collect(self, target, wanted):
        return Collected()

@hookimpl
def netautod_register_collectors(register):
    register({registered})
"""
GOOD = {"transport": "'acme'", "tables": "frozenset({'mac'})", "defined": "async def", "registered": "Acme()"}


def test_collectors_go_by_their_transport(installed: Installed) -> None:
    installed.add("one", COLLECTOR.format(**GOOD))
    installed.add("other", COLLECTOR.format(**{**GOOD, "transport": "'other'"}))
    assert list(installed.manager().collectors()) == ["acme", "other"]


def test_a_transport_belongs_to_the_first_plugin(installed: Installed) -> None:
    for name in ("one", "two"):
        installed.add(name, COLLECTOR.format(**GOOD))
    manager = installed.manager()
    assert list(manager.collectors()) == ["acme"]
    assert "another plugin already registers a collector for acme" in str(errors(manager)["two"])


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        pytest.param({"registered": "Acme"}, "Acme is a class: a collector is an object", id="a class"),
        pytest.param({"registered": "object()"}, "collector object has no transport", id="something else"),
        pytest.param({"transport": "' '"}, "transport of the collector Acme is not the name", id="no name"),
        pytest.param({"tables": "{'mac'}"}, "tables of the collector Acme is not a frozenset", id="a set"),
        pytest.param({"tables": "frozenset()"}, "tables of the collector Acme is not", id="no table"),
        pytest.param({"tables": "frozenset({'macs'})"}, "tables of the collector Acme is not", id="a typo"),
        pytest.param(
            {"defined": "def"}, "collect of the collector Acme is not an async", id="a plain function"
        ),
    ],
)
def test_what_could_not_work_is_refused(installed: Installed, wrong: dict[str, str], error: str) -> None:
    installed.add("acme", COLLECTOR.format(**{**GOOD, **wrong}))
    manager = installed.manager()
    assert manager.collectors() == {}
    assert error in str(errors(manager)["acme"])
