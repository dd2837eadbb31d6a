"""The routes of the service are those of the table, each with the permission and status that it says."""

import pytest

from tests.support.route_table import built, table

# Lines of the table without a route yet, by the reason. Whoever builds one removes it here.
NOT_BUILT = {
    "The search comes with the rest of the stored configs.": [
        "GET /api/config/search",
        "PUT /api/config/devices/:/configs/:/notes",
    ],
    "Discovered data come with the poller.": [
        "GET /api/devices/:/arp-table",
        "GET /api/devices/:/interfaces",
        "GET /api/devices/:/mac-table",
        "GET /api/devices/:/neighbors",
        "GET /api/devices/:/poll-history",
        "GET /api/devices/:/status",
        "GET /api/devices/:/vlans",
        "GET /api/devices/find",
        "GET /api/devices/topology",
        "POST /api/devices/:/poll",
    ],
    "Imports are a part of their own.": [
        "POST /api/devices/import/csv",
        "POST /api/devices/import/json",
    ],
    "Commands, credential tests and the reset of host keys come with the rest of device access.": [
        "GET /api/devices/with-backup-info",
        "POST /api/devices/:/exec-command",
        "POST /api/devices/:/host-key/reset",
        "POST /api/devices/:/test-credential",
        "POST /api/devices/bulk/test-credentials",
    ],
    "Status, pause and the page of the API come with operations.": [
        "GET /api/docs-ui",
        "GET /api/system/status",
        "POST /api/system/pause",
        "POST /api/system/resume",
    ],
}
TABLE, BUILT = table(), built()
WAITING = [key for keys in NOT_BUILT.values() for key in keys]


def test_every_route_is_in_the_table() -> None:
    assert sorted(set(BUILT) - set(TABLE)) == []


def test_every_line_of_the_table_is_built_or_listed_as_not_built() -> None:
    assert sorted(set(TABLE) - set(BUILT)) == sorted(WAITING)


@pytest.mark.parametrize("key", sorted(set(BUILT) & set(TABLE)))
def test_a_route_declares_what_the_table_says(key: str) -> None:
    assert BUILT[key] == TABLE[key]
