"""The surface that authors of plugins build on is recorded, with the rules for its changes and
deprecations.
"""

from collections.abc import Callable, Coroutine
from typing import Any

import pluggy
import pytest

from netautod.plugin_api import VERSION, PluginApiDeprecation, hookimpl
from netautod.plugin_api.version import deprecated, deprecation, parse_version, refusal
from netautod.plugin_host.loading.loader import LoadedPlugins
from tests.plugins import surface
from tests.plugins.surface import COMMAND, Recorded, broken_promises, unrecorded


def test_the_surface_is_the_recorded_one() -> None:
    recorded, found = surface.read(), surface.surface()
    broken = broken_promises(recorded, found)
    assert broken == [], "\n".join(broken)
    differing = unrecorded(recorded, found)
    assert differing == [], "\n".join(["the plugin API has changed:", *differing, f"record it: {COMMAND}"])


def test_every_deprecation_of_the_surface_is_over_before_its_version() -> None:
    """Check that what should be gone by VERSION is gone."""
    here = parse_version(VERSION)
    late = [name for name, what in surface.surface().items() if surface._is_over(what, here)]
    assert late == []


def recorded(*, released: str | None = "1.2", **lines: str) -> Recorded:
    """Return names with two underscores for a dot, since 1.0; what is called `new...` since 1.3."""
    named = {name.replace("__", "."): what for name, what in lines.items()}
    since = {name: "1.3" if "new" in name else "1.0" for name in named}
    return Recorded(released=released, since=since, lines=named)


OLD = "[deprecated since 1.1, gone in 1.3]"


@pytest.mark.parametrize(
    ("before", "found", "version", "message"),
    [
        pytest.param({"a": "x"}, {"a": "x"}, "1.2", None, id="nothing"),
        pytest.param({"a": "x"}, {}, "1.2", "a is gone: raise the major", id="removed"),
        pytest.param({"a": "x"}, {}, "1.3", "a is gone: raise the major", id="removed in a minor"),
        pytest.param({"a": "x"}, {}, "2.0", None, id="removed in a major"),
        pytest.param({"a": f"x {OLD}"}, {}, "1.2", "a is gone", id="removed before its time"),
        pytest.param({"a": f"x {OLD}"}, {}, "1.3", None, id="removed when its time has come"),
        pytest.param({"a": "x"}, {"a": "y"}, "1.3", "a has changed from x to y", id="changed"),
        pytest.param({"a": "x"}, {"a": f"x {OLD}"}, "1.2", None, id="deprecated"),
        pytest.param({"a": "x"}, {"a": "x", "b": "y"}, "1.2", "raise the minor", id="added"),
        pytest.param({"a": "x"}, {"a": "x", "b": "y"}, "1.3", None, id="added in a minor"),
        pytest.param(
            {"a": "x"}, {"a": "x", "a.b": "required field int"}, "1.3", "a.b has no default", id="a field"
        ),
        pytest.param({"a": "x"}, {"a": "x", "a.b": "field int"}, "1.3", None, id="an optional field"),
        pytest.param(
            {"a": "x"}, {"a": "x", "a(b)": "required keyword int"}, "1.3", "a(b) has no", id="a parameter"
        ),
        pytest.param({"a": "x", "new": "x"}, {"a": "x"}, "1.3", None, id="removed before a release"),
        pytest.param({"a": "x", "new": "x"}, {"a": "x", "new": "y"}, "1.3", None, id="changed before one"),
    ],
)
def test_what_a_change_requires(
    before: dict[str, str], found: dict[str, str], version: str, message: str | None
) -> None:
    sentences = broken_promises(recorded(**before), found, version=version)
    assert sentences == [] if message is None else any(message in sentence for sentence in sentences)


def test_nothing_is_promised_before_the_first_release() -> None:
    assert broken_promises(recorded(released=None, a="x"), {"a": "y", "b": "z"}) == []


@pytest.mark.parametrize(
    ("wanted", "version", "message"),
    [
        ("1.0", "1.0", None),
        ("1.0", "1.4", None),
        ("1.4", "1.4", None),
        ("1.5", "1.4", "netautod is too old"),
        ("2.0", "1.4", "netautod is too old"),
        ("1.4", "2.0", "a newer release of the plugin is needed"),
        ("1.10", "1.9", "netautod is too old"),
        (1.0, "1.0", "is a text such as"),
        ("1", "1.0", "is a text such as"),
        ("1.0.0", "1.0", "is a text such as"),
        ("01.0", "1.0", "is a text such as"),
        ("", "1.0", "is a text such as"),
    ],
)
def test_which_plugins_are_refused(wanted: object, version: str, message: str | None) -> None:
    reason = refusal(wanted, version=version)
    assert reason is None if message is None else reason is not None and message in reason


def test_a_plugin_for_a_newer_version_is_left_out() -> None:
    with pytest.raises(Exception, match=r"written for plugin API 99\.0, and this netautod has"):
        LoadedPlugins.of({"newer": type("Newer", (), {"NETAUTOD_PLUGIN_API": "99.0"})()})


def old(times: int) -> int:
    return 2 * times


async def slow(times: int) -> int:
    return 2 * times


def finished(coroutine: Coroutine[Any, Any, int]) -> int:
    """Return the value of a coroutine that waits for nothing; asyncio.run would close the tests'
    event loop.
    """
    with pytest.raises(StopIteration) as ended:
        coroutine.send(None)
    value: int = ended.value.value
    return value


class Thing:
    def __init__(self, times: int) -> None:
        self.times = times

    def doubled(self) -> int:
        return 2 * self.times


GOING: dict[str, Any] = {"since": "1.1", "removed_in": "1.3", "instead": "another"}


@pytest.mark.parametrize(
    ("used", "name"),
    [
        pytest.param(lambda: deprecated(**GOING)(old)(2), "old", id="function"),
        pytest.param(lambda: finished(deprecated(**GOING)(slow)(2)), "slow", id="asynchronous function"),
        pytest.param(lambda: deprecated(**GOING)(Thing.doubled)(Thing(2)), "Thing.doubled", id="method"),
        pytest.param(lambda: deprecated(**GOING)(type("Made", (Thing,), {}))(4).times, "Made", id="class"),
    ],
)
def test_who_uses_what_is_going_away_is_warned(used: Callable[[], int], name: str) -> None:
    with pytest.warns(PluginApiDeprecation) as caught:
        assert used() == 4
    assert str(caught[0].message) == (
        f"{name} is deprecated since plugin API 1.1 and gone in 1.3: use another"
    )
    assert caught[0].filename == __file__


def test_a_hook_that_is_going_away_warns_who_implements_it() -> None:
    marker = pluggy.HookspecMarker("netautod")

    class Specs:
        @marker(warn_on_impl=deprecation("netautod_old", **GOING))
        def netautod_old(self) -> None: ...

    class Plugin:
        @hookimpl
        def netautod_old(self) -> None: ...

    manager = pluggy.PluginManager("netautod")
    manager.add_hookspecs(Specs)
    with pytest.warns(PluginApiDeprecation, match="netautod_old is deprecated since"):
        manager.register(Plugin())
    assert "gone in 1.3" in surface._deprecated_hook(Specs.netautod_old)


def test_the_mark_is_in_the_record() -> None:
    lines = dict(surface._described("plugin_api.old", deprecated(**GOING)(old)))
    assert lines["plugin_api.old"] == f"function -> int {OLD}"


@pytest.mark.parametrize(
    ("since", "removed_in", "message"),
    [
        ("1.1", "1.2", "stays for 2 minors"),
        ("1.1", "1.1", "stays for 2 minors"),
        ("1.1", "0.9", "cannot be gone"),
        ("1", "1.2", "is a text such as"),
    ],
)
def test_what_is_deprecated_stays_for_two_minors(since: str, removed_in: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        deprecated(since=since, removed_in=removed_in, instead="x")(old)
    assert deprecation("x", since="1.1", removed_in="2.0", instead="y")
