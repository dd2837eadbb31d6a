"""Outputs that a device should not print: one is no reason to lose the others, or rows that are there."""

import pytest

from netautod_cli.collector import rows_of
from netautod_cli.reads import READS
from netautod_cli.records import EMPTY
from netautod_cli.unreadable import Unreadable
from tests.plugins.cli.outputs import INTERFACES

IOS = READS["cisco_ios"]["interfaces"]
ADDRESSES = "ip -json -s -d address show"
VLANS = "bridge -json vlan show"


@pytest.mark.parametrize("phrase", EMPTY)
def test_a_description_empties_no_table(phrase: str) -> None:
    """Keep the rows, also where a line is not understood: then nothing is known, which is not the same as
    none.
    """
    output = INTERFACES.replace("to the core", phrase)
    assert output != INTERFACES
    whole = rows_of("cisco_ios", IOS.command, [INTERFACES, None])
    assert len(rows_of("cisco_ios", IOS.command, [output, None])) == len(whole) > 0


@pytest.mark.parametrize(
    ("command", "output"),
    [
        (ADDRESSES, '[{"ifname": "eth0", "addr_info": "none"}]'),
        (ADDRESSES, '[{"ifname": "eth0", "flags": 7}]'),
        (ADDRESSES, '[{"ifname": "eth0", "stats64": {"rx": "many"}}]'),
        (ADDRESSES, '[{"ifname": "eth0", "mtu": "big"}]'),
        (ADDRESSES, '[{"ifname": "eth0", "ifindex": true}]'),
        (ADDRESSES, '[{"ifname": "eth0", "linkinfo": {"info_kind": "vlan", "info_data": {"id": "x"}}}]'),
        (ADDRESSES, '[{"ifname": "eth0", "stats64": {"rx": {"bytes": "12"}}}]'),
        (ADDRESSES, "[" * 200_000),
        (VLANS, '[{"ifname": "eth0", "vlans": 7}]'),
        (VLANS, '[{"ifname": "eth0", "vlans": [7]}]'),
        (VLANS, '[{"ifname": "eth0", "vlans": [{"vlan": "7"}]}]'),
        (VLANS, '[{"ifname": "eth0", "vlans": [{"vlan": 1, "vlanEnd": "all"}]}]'),
    ],
)
def test_json_of_another_form_is_unreadable(command: str, output: str) -> None:
    with pytest.raises(Unreadable):
        rows_of("linux", command, [output])


def test_a_range_of_vlans_ends_where_vlans_end() -> None:
    rows = rows_of("linux", VLANS, ['[{"ifname": "eth0", "vlans": [{"vlan": 4000, "vlanEnd": 3000000}]}]'])
    assert [row.vlan_id for row in rows] == list(range(4000, 4095))
