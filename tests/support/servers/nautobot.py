"""A Nautobot made of recorded answers: names only with depth 1, offsets, unknown parameters refused."""

from typing import Any

from tests.support.servers.inventory import (
    Answer,
    Query,
    ReplayServer,
    Row,
    json_answer,
    no_choice,
    number,
    recorded,
)

TOKEN = "fedcba9876543210fedcba9876543210fedcba98"
NESTED = ("device_type", "status", "role", "platform", "location", "tenant")
PLAIN = frozenset({"depth", "limit", "offset", "sort", "include", "exclude_m2m", "format", "api_version"})
FILTERS = ("location", "role", "platform", "status", "tenant", "tags", "manufacturer", "name")


def recorded_devices() -> list[Row]:
    """The 30 devices at depth 1. Ten were recorded so; the others are put together from what those nest, with
    addresses in their pattern."""
    whole: list[Row] = recorded("nautobot", "dcim-devices-depth1-limit10")["results"]
    known = {row[name]["id"]: row[name] for row in whole for name in NESTED if row[name] is not None}
    tags = {tag["id"]: tag for row in whole for tag in row["tags"]}
    rest: list[Row] = recorded("nautobot", "dcim-devices-depth0")["results"][len(whole) :]
    for at, row in enumerate(rest, start=len(whole)):
        nested = {name: known[row[name]["id"]] for name in NESTED if row[name] is not None}
        address = {**whole[0]["primary_ip4"], "id": row["primary_ip4"]["id"], "address": f"10.0.{at}.1/24"}
        row.update(nested, primary_ip4=address, tags=[tags[tag["id"]] for tag in row["tags"]])
    return [*whole, *rest]


class NautobotReplay(ReplayServer):
    """`refuses_sort`: like a version that does not know the parameter."""

    system = "nautobot"

    def __init__(self, *, version: str = "3.2.7", refuses_sort: bool = False) -> None:
        super().__init__(recorded_devices(), authorized={f"Token {TOKEN}"}, version=version)
        found = recorded("nautobot", "dcim-devices-depth2-limit2")["results"]
        self.manufacturers: list[Row] = [row["device_type"]["manufacturer"] for row in found]
        self._plain = PLAIN - {"sort"} if refuses_sort else PLAIN

    def refusal(self, authorization: str | None) -> Any:
        return {
            "detail": "Invalid token" if authorization else "Authentication credentials were not provided."
        }

    def listed(self, path: str, query: Query) -> Answer:
        for name in query:
            if name not in self._plain and name not in FILTERS:
                return json_answer({name: ["Unknown filter field"]}, status=400)
        if path == "dcim/manufacturers":
            return self._page(self.manufacturers, query)
        if path != "dcim/devices":
            return json_answer({"detail": "Not found."}, status=404)
        self.before_list()
        matching = self.rows
        for name in FILTERS:
            wanted = query.get(name, [])
            known = {value for row in self.rows for value in self._values(row, name)}
            for value in wanted:
                if value not in known and name != "name":
                    return no_choice(name, value)
            if wanted:
                matching = [row for row in matching if set(self._values(row, name)) & set(wanted)]
        return self._page(matching, query)

    def _values(self, row: Row, name: str) -> list[str]:
        if name == "tags":
            return [tag["name"] for tag in row["tags"]]
        if name == "name":
            return [row["name"]]
        if name == "manufacturer":
            maker = row["device_type"]["manufacturer"]["id"]
            return [each["name"] for each in self.manufacturers if each["id"] == maker]
        return [] if row[name] is None else [row[name]["name"]]

    def _page(self, rows: list[Row], query: Query) -> Answer:
        key = "id" if query.get("sort") == ["id"] else "name"
        found = sorted(rows, key=lambda row: str(row[key]))
        return self.page(found, query, dict if number(query, "depth", 0) else _flat)


def _flat(row: Row) -> Row:
    """At depth 0 nested objects are references."""
    return {
        name: {key: value[key] for key in ("id", "object_type", "url")}
        if isinstance(value, dict) and "object_type" in value
        else value
        for name, value in row.items()
    }
