"""A NetBox made of recorded answers: its token check, filters, paging and quirks, and generated fleets."""

from collections.abc import Iterable
from functools import cached_property
from itertools import cycle, islice
from typing import Any

from tests.support.servers.inventory import (
    HTML,
    Answer,
    Query,
    ReplayServer,
    Row,
    no_choice,
    number,
    recorded,
)

V1_TOKEN = "0123456789abcdef0123456789abcdef01234567"
V2_TOKEN = "nbt_K2F4.secretpartofthetoken"
# 4.4 and older know no Bearer.
SINCE_V2_TOKENS = (4, 5)
SINCE_FIELDS = (4, 0)


def recorded_devices() -> list[Row]:
    """The 64 devices in the order of their ids."""
    pages = [recorded("netbox", f"dcim-devices-limit50-p{page}")["results"] for page in (1, 2)]
    rows: list[Row] = [row for page in pages for row in page]
    return sorted(rows, key=lambda row: int(row["id"]))


def generated_devices(count: int) -> list[Row]:
    """Copies of the recorded devices with a name and address, each with its own id, name and address."""
    models = [row for row in recorded_devices() if row["primary_ip"] is not None]
    return [_renumbered(row, at) for at, row in enumerate(islice(cycle(models), count), start=1)]


def _renumbered(row: Row, at: int) -> Row:
    address = f"10.{at >> 16 & 255}.{at >> 8 & 255}.{at & 255}/16"
    ip = {**row["primary_ip"], "id": at, "display": address, "address": address}
    named = {"id": at, "name": f"device-{at:06d}", "display": f"device-{at:06d}", "serial": f"SN{at:08d}"}
    return {**row, **named, "primary_ip": ip, "primary_ip4": ip, "primary_ip6": None, "asset_tag": None}


def as_netbox_3(row: Row) -> Row:
    """3.7 has the role twice and knows no depths."""
    nested = {
        name: {key: value for key, value in row[name].items() if key != "_depth"} if row[name] else None
        for name in ("role", "platform")
    }
    return {**row, **nested, "device_role": nested["role"]}


class NetBoxReplay(ReplayServer):
    """`ignores_filters`: as any NetBox does with parameters that it does not know."""

    system = "netbox"

    def __init__(self, rows: Iterable[Row] | None = None, *, version: str = "4.7.3", **options: Any) -> None:
        release = tuple(int(part) for part in version.split(".")[:2])
        authorized = {f"Token {V1_TOKEN}"}
        if release >= SINCE_V2_TOKENS:
            authorized.add(f"Bearer {V2_TOKEN}")
        found = recorded_devices() if rows is None else rows
        super().__init__(found, authorized=authorized, version=version, **options)
        self.platforms: list[Row] = recorded("netbox", "dcim-platforms")["results"]
        self.ignores_filters = False
        self._knows_fields = release >= SINCE_FIELDS

    def delete(self, *ids: int) -> None:
        self.rows = [row for row in self.rows if row["id"] not in ids]

    def refusal(self, authorization: str | None) -> Any:
        return recorded("netbox", "error-403-no-token" if authorization is None else "error-403-bad-token")

    def listed(self, path: str, query: Query) -> Answer:
        if path == "dcim/platforms":
            return self._page(self.platforms, query, fields="")
        if path != "dcim/devices":
            return Answer(status=404, body=HTML, headers={"Content-Type": "text/html; charset=utf-8"})
        self.before_list()
        found = self.rows if self.ignores_filters else self._matching(query)
        if isinstance(found, Answer):
            return found
        return self._page(found, query, fields=query.get("fields", [""])[-1])

    def _matching(self, query: Query) -> list[Row] | Answer:
        found = self.rows
        for name, known in self._filters.items():
            wanted = query.get(name, [])
            for value in wanted:
                if value not in known:
                    return no_choice(name, value)
            if wanted:
                found = [row for row in found if _matches(row, name, wanted, known)]
        return [row for row in found if "name" not in query or row["name"] in query["name"]]

    @cached_property
    def _filters(self) -> dict[str, dict[str, frozenset[str]]]:
        """The values that each filter knows, and what each stands for: platforms include those below them."""
        flat = {
            name: {value: frozenset({value}) for row in self.rows for value in _values(row, name)}
            for name in ("site", "role", "manufacturer", "tenant", "status", "tag")
        }
        parents = {row["slug"]: (row["parent"] or {}).get("id") for row in self.platforms}
        ids = {row["slug"]: row["id"] for row in self.platforms}
        platforms = {
            slug: frozenset({slug} | {below for below, parent in parents.items() if parent == ids[slug]})
            for slug in parents
        }
        return {**flat, "platform": platforms}

    def _page(self, rows: list[Row], query: Query, *, fields: str) -> Answer:
        after, order = number(query, "id__gt", 0), query.get("ordering", [""])[-1]
        found = [row for row in rows if row["id"] > after]
        if order in ("id", "-id"):
            found.sort(key=lambda row: int(row["id"]), reverse=order == "-id")
        else:
            found.sort(key=lambda row: (row["name"] is None, row["name"]))
        names = fields.split(",") if fields and self._knows_fields else None
        return self.page(found, query, lambda row: {name: row[name] for name in names or row if name in row})


def _values(row: Row, name: str) -> list[str]:
    if name == "tag":
        return [tag["slug"] for tag in row["tags"]]
    if name == "status":
        return [row["status"]["value"]]
    nested = row["device_type"]["manufacturer"] if name == "manufacturer" else row[name]
    return [] if nested is None else [nested["slug"]]


def _matches(row: Row, name: str, wanted: Iterable[str], known: dict[str, frozenset[str]]) -> bool:
    has = set(_values(row, name))
    if name == "tag":
        return has.issuperset(wanted)
    return any(has & known[value] for value in wanted)
