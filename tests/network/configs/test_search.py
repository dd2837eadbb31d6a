"""The search over all newest configs: what it finds, what it must not tell, and what it refuses."""

import asyncio
from typing import Any
from urllib.parse import urlencode

import pytest

from netautod.core.errors import InvalidInput, Unavailable
from netautod.core.pages import Page
from netautod.network.configs import search as searching
from netautod.network.configs.search import ConfigSearch, LineSearch
from netautod.network.configs.store import ConfigStore
from netautod.network.configs.texts.line_pattern import LineQuery
from netautod.network.configs.workers.pool import Turn
from netautod.network.devices.models import DeviceFilter
from netautod.testing import ios_config
from tests.network.configs.fleet import Fleet
from tests.support.client import assert_error

SECRET = "c4nary"


def path(**query: Any) -> str:
    return f"/api/config/search?{urlencode(query)}"


async def found(fleet: Fleet, **query: Any) -> Any:
    return (await fleet.api.get(path(**query))).expect()


def config(name: str, *lines: str) -> str:
    return "\n".join([f"hostname {name}", *lines, "end", ""])


async def test_a_match_says_where_it_stands(fleet: Fleet) -> None:
    device_id = await fleet.stored("sw1", config("sw1"), config("sw1", "!", "  ntp server 192.0.2.9"))
    answer = await found(fleet, q="NTP Server")
    assert answer == {
        "matches": [
            {
                "device_id": device_id,
                "device_name": "sw1",
                "version": 2,
                "line_number": 3,
                "line": "  ntp server 192.0.2.9",
            }
        ],
        "total": 1,
        "limit": 50,
        "offset": 0,
    }
    shown = (await fleet.api.get(f"/api/config/devices/{device_id}/configs/latest")).json["config_text"]
    assert shown.split("\n")[2] == answer["matches"][0]["line"]


@pytest.mark.parametrize(
    ("query", "before", "after"),
    [
        pytest.param({"q": "three"}, None, None, id="none"),
        pytest.param({"q": "three", "context": 0}, None, None, id="none is asked for"),
        pytest.param({"q": "three", "context": 1}, ["two"], ["four"], id="one line"),
        pytest.param({"regex": "^three", "context": 1}, ["two"], ["four"], id="one line around a pattern"),
        pytest.param(
            {"q": "three", "context": 10}, ["hostname sw1", "one", "two"], ["four", "end"], id="all"
        ),
        pytest.param({"q": "hostname", "context": 1}, [], ["one"], id="around the first line"),
        pytest.param({"q": "end", "context": 1}, ["four"], [], id="around the last line"),
    ],
)
async def test_the_lines_around_a_match(
    fleet: Fleet, query: dict[str, Any], before: list[str] | None, after: list[str] | None
) -> None:
    await fleet.stored("sw1", config("sw1", "one", "two", "three", "four"))
    [match] = (await found(fleet, **query))["matches"]
    assert (match.get("before"), match.get("after")) == (before, after)


async def test_secrets_around_a_match_are_hidden(fleet: Fleet) -> None:
    await fleet.stored("sw1", ios_config("sw1", community=SECRET))
    answer = await found(fleet, q="snmp-server community", context=10)
    assert answer["total"] == 1
    assert SECRET not in str(answer)


async def test_equal_lines_are_grouped_by_how_many_devices_have_them(fleet: Fleet) -> None:
    for number in range(12):
        lines = ["ntp server 1", f"ntp server {10 + number // 6}", "ntp server 1"]
        await fleet.stored(f"sw{number:02}", config(f"sw{number:02}", *lines))
    answer = await found(fleet, q="ntp", group="line", context=1)
    assert (answer["total"], "matches" in answer) == (3, False)
    assert [(group["line"], group["devices"]) for group in answer["groups"]] == [
        *(("ntp server 1", 12), ("ntp server 10", 6), ("ntp server 11", 6))
    ]
    first = answer["groups"][0]["matches"]
    places = [(match["device_name"], match["line_number"]) for match in first]
    assert places == [(f"sw{number:02}", line) for number in range(5) for line in (2, 4)]
    assert (first[0]["before"], first[0]["after"]) == (["hostname sw00"], ["ntp server 10"])
    page = await found(fleet, q="ntp", group="line", limit=1, offset=1)
    assert ([group["line"] for group in page["groups"]], page["total"]) == (["ntp server 10"], 3)
    assert (await found(fleet, q="nothing", group="line"))["groups"] == []


async def test_too_many_different_lines_are_refused(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "MOST_GROUPS", 3)
    for name in ("sw1", "sw2"):
        await fleet.stored(name, config(name))
    assert (await found(fleet, q="hostname", group="line"))["total"] == 2
    await fleet.stored("sw3", config("sw3"))
    assert (await found(fleet, q="hostname", group="line"))["total"] == 3
    await fleet.stored("sw4", config("sw4"))
    response = await fleet.api.get(path(q="hostname", group="line"))
    assert_error(response, 400, "more than 3 different lines")


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ({"q": "x", "context": 11}, "context"),
        ({"q": "x", "context": -1}, "context"),
        ({"q": "x", "context": "a"}, "context"),
        ({"q": "x", "group": "device"}, "group"),
    ],
)
async def test_a_bad_view_of_a_search_is_named(fleet: Fleet, query: dict[str, Any], text: str) -> None:
    assert_error(await fleet.api.get(path(**query)), 400, text)


async def test_only_newest_versions_of_live_devices_of_the_organization_are_searched(fleet: Fleet) -> None:
    await fleet.stored("sw1", config("sw1", "old line"), config("sw1", "new line"))
    deleted = await fleet.stored("sw2", config("sw2", "new line"))
    assert (await found(fleet, q="new line"))["total"] == 2
    assert (await fleet.api.delete(f"/api/devices/{deleted}")).status == 204
    assert (await found(fleet, q="new line"))["total"] == 1
    assert (await found(fleet, q="old line"))["total"] == 0
    stranger = fleet.served.client("*")[0]
    assert (await stranger.get(path(q="line"))).json["total"] == 0


async def test_matches_are_in_the_order_of_names_and_lines_and_page(fleet: Fleet) -> None:
    for name in ("b", "a", "c"):
        await fleet.stored(name, config(name, "vlan 1", "x", "vlan 2"))
    everything = (await found(fleet, q="vlan"))["matches"]
    assert [(match["device_name"], match["line_number"]) for match in everything] == [
        *(("a", 2), ("a", 4), ("b", 2), ("b", 4), ("c", 2), ("c", 4))
    ]
    pages = [await found(fleet, q="vlan", limit=4, offset=offset) for offset in (0, 4, 6)]
    assert [match for page in pages for match in page["matches"]] == everything
    assert [(page["total"], page["limit"], page["offset"]) for page in pages] == [
        (6, 4, n) for n in (0, 4, 6)
    ]


@pytest.mark.parametrize(
    "query",
    [
        pytest.param({"q": SECRET}, id="the secret itself"),
        pytest.param({"q": f"community {SECRET}"}, id="with the words before it"),
        pytest.param({"regex": "community c[0-9]n"}, id="the beginning of the secret as a pattern"),
        pytest.param({"regex": "community .{6} RO"}, id="its length as a pattern"),
    ],
)
async def test_a_secret_cannot_be_confirmed(fleet: Fleet, query: dict[str, str]) -> None:
    await fleet.stored("sw1", ios_config("sw1", community=SECRET))
    assert (await found(fleet, **query))["total"] == 0
    (match,) = (await found(fleet, q="snmp-server community"))["matches"]
    assert match["line"] == "snmp-server community <hidden> RO"


@pytest.mark.parametrize(
    ("query", "names"),
    [
        pytest.param({}, ["ios-a", "ios-b", "nx"], id="no filter"),
        pytest.param({"device_type": "cisco_ios"}, ["ios-a", "ios-b"], id="device_type"),
        pytest.param({"site": "Bonn"}, ["ios-b", "nx"], id="site"),
        pytest.param({"site": "Bonn", "device_type": "cisco_ios"}, ["ios-b"], id="both"),
        pytest.param({"site": "nowhere"}, [], id="a site without devices"),
    ],
)
async def test_filters(fleet: Fleet, query: dict[str, str], names: list[str]) -> None:
    await fleet.stored("ios-a", config("ios-a", "here"))
    await fleet.stored("ios-b", config("ios-b", "here"), site="Bonn")
    other = await fleet.stored("nx", config("nx", "here"), site="Bonn")
    assert (await fleet.api.put(f"/api/devices/{other}", {"device_type": "linux"})).status == 200
    answer = await found(fleet, q="here", **query)
    assert [match["device_name"] for match in answer["matches"]] == names


@pytest.mark.parametrize(
    ("query", "text"),
    [
        pytest.param({}, "exactly one", id="neither"),
        pytest.param({"q": "a", "regex": "b"}, "exactly one", id="both"),
        pytest.param({"q": ""}, "exactly one", id="empty"),
        pytest.param({"q": "a\nb"}, "q: lines are searched", id="a line break"),
        pytest.param({"q": "a" * 1001}, "q:", id="too long"),
        pytest.param({"regex": "(a"}, "regex: missing )", id="no regular expression"),
        pytest.param({"regex": "(?=a)b"}, "regex: invalid perl operator", id="look-ahead"),
        pytest.param({"regex": r"(a)\1"}, r"regex: invalid escape sequence: \1", id="a back-reference"),
        pytest.param({"regex": "((a{100}){100}){100}"}, "regex:", id="a pattern that grows"),
        pytest.param({"regex": r"(\pL{500}\pN{500}){2}"}, "regex:", id="a pattern that needs much memory"),
        pytest.param({"q": "a", "device_type": "Cisco"}, "device_type", id="a bad device_type"),
        pytest.param({"q": "a", "limit": "0"}, "limit", id="limit zero"),
    ],
)
async def test_a_bad_query_is_a_400_that_says_why(fleet: Fleet, query: dict[str, str], text: str) -> None:
    assert_error(await fleet.api.get(path(**query)), 400, text)


async def test_the_reason_quotes_the_pattern_as_it_was_sent(fleet: Fleet) -> None:
    answer = await fleet.api.get(path(regex="(a"))
    assert answer.json == {"error": "regex: missing ): (a"}


async def test_who_may_search(fleet: Fleet) -> None:
    assert_error(await fleet.with_permissions("tasks.operate").get(path(q="a")), 403)
    assert (await fleet.with_permissions("devices.access").get(path(q="a"))).status == 200


async def test_a_pattern_that_is_a_disaster_elsewhere_is_none_here(fleet: Fleet) -> None:
    await fleet.stored("sw1", config("sw1", "a" * 30_000))
    assert (await found(fleet, regex="(a*)*$b"))["total"] == 0
    (match,) = (await found(fleet, regex="^(a|aa)+$"))["matches"]
    assert (match["line_number"], len(match["line"])) == (2, 2000)


async def test_a_second_search_reads_no_text_again(fleet: Fleet) -> None:
    await fleet.stored("sw1", config("sw1", "vlan 1"))
    assert (await found(fleet, q="vlan 1"))["total"] == 1
    await fleet.database.collection("config_texts").delete_many({})
    assert (await found(fleet, regex="^vlan [0-9]$"))["total"] == 1


async def test_a_text_is_learned_for_each_device_that_has_it(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or the time of a search would tell that a device has the text of another."""
    taught: list[str] = []
    ask = Turn.ask

    async def asking(turn: Turn, work: str, **arguments: Any) -> Any:
        taught.extend(key[1] for key, _ in arguments.get("texts", ()))
        return await ask(turn, work, **arguments)

    monkeypatch.setattr(Turn, "ask", asking)
    ids = [await fleet.stored(name, config("same")) for name in ("a", "b")]
    assert len({row["text_id"] for row in await fleet.rows("configs")}) == 1
    for _ in range(2):
        await found(fleet, q="hostname")
    assert taught == ids


async def test_what_does_not_fit_into_the_cache_is_found_all_the_same(fleet: Fleet) -> None:
    for name in ("a", "b", "c"):
        await fleet.stored(name, config(name, "vlan 1"))
    worker = type(fleet.configs.workers.searching)(fleet.sessions.platforms, cache_bytes=0)
    try:
        result = await search(fleet, worker=worker).find(
            asked(fleet, LineQuery(text="vlan", is_pattern=False)),
            Page(),
        )
    finally:
        await worker.stop()
    assert result.total == 3


async def test_a_text_that_is_lost_does_not_hide_the_others(fleet: Fleet) -> None:
    await fleet.stored("a", config("a", "vlan 1"))
    await fleet.database.collection("config_texts").delete_many({})
    await fleet.stored("b", config("b", "vlan 1"))
    assert [match["device_name"] for match in (await found(fleet, q="vlan"))["matches"]] == ["b"]


async def test_a_search_that_takes_too_long_says_so(fleet: Fleet) -> None:
    await fleet.stored("a", config("a", "vlan 1"))
    with pytest.raises(Unavailable, match="longer than 0 s"):
        await search(fleet, seconds=0.0).find(
            asked(fleet, LineQuery(text="vlan", is_pattern=False)),
            Page(),
        )
    assert (await found(fleet, q="vlan"))["total"] == 1


async def test_a_dead_worker_is_replaced(fleet: Fleet) -> None:
    await fleet.stored("a", config("a", "vlan 1"))
    assert (await found(fleet, q="vlan"))["total"] == 1
    pid = fleet.configs.workers.searching.pid
    assert pid is not None
    await kill(pid)
    assert_error(await fleet.api.get(path(q="vlan")), 503, "died")
    assert (await found(fleet, q="vlan"))["total"] == 1
    assert fleet.configs.workers.searching.pid != pid


async def test_many_searches_at_once_do_not_mix(fleet: Fleet) -> None:
    for number in range(4):
        name = f"sw{number}"
        await fleet.stored(name, config(name, *(f"vlan {number}" for _ in range(number + 1))))
    answers = await asyncio.gather(*(found(fleet, regex=f"^vlan {n % 4}$") for n in range(12)))
    assert [answer["total"] for answer in answers] == [n % 4 + 1 for n in range(12)]
    with pytest.raises(InvalidInput):
        await search(fleet).find(
            asked(fleet, LineQuery(text="(", is_pattern=True)),
            Page(),
        )


def asked(fleet: Fleet, wanted: LineQuery) -> LineSearch:
    return LineSearch(org_id=fleet.org_id, wanted=wanted, narrowed=DeviceFilter())


def search(fleet: Fleet, **options: Any) -> ConfigSearch:
    return ConfigSearch(
        devices=fleet.parts.devices.devices,
        store=ConfigStore(fleet.database),
        texts=fleet.configs.texts,
        **{"worker": fleet.configs.workers.searching, **options},
    )


async def kill(pid: int) -> None:
    process = await asyncio.create_subprocess_exec("kill", "-9", str(pid))
    assert await process.wait() == 0
