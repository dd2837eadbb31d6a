"""The routes of the service are those of the table, each with the permission and status that it says."""

from tests.assembly.route_table import built, table
from tests.support.tables import over

# Lines of the table without a route yet, by the reason. Whoever builds one removes it here.
NOT_BUILT: dict[str, list[str]] = {}
TABLE, BUILT = table(), built()
WAITING = [key for keys in NOT_BUILT.values() for key in keys]


def test_every_route_is_in_the_table() -> None:
    assert sorted(set(BUILT) - set(TABLE)) == []


def test_every_line_of_the_table_is_built_or_listed_as_not_built() -> None:
    assert sorted(set(TABLE) - set(BUILT)) == sorted(WAITING)


@over("key", sorted(set(BUILT) & set(TABLE)))
def test_a_route_declares_what_the_table_says(key: str) -> None:
    assert BUILT[key] == TABLE[key]
