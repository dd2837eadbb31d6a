"""The reading over NETCONF, and the handling of devices that break the rules."""

from typing import Any

import pytest

from netautod.plugin_api import (
    TABLES,
    ArpEntry,
    Collected,
    DeviceFacts,
    DeviceFailed,
    InterfaceAddress,
    MacEntry,
    Neighbor,
    Vlan,
)
from netautod.testing import PolledDevice
from netautod_netconf.collector import NetconfCollector
from tests.plugins.netconf.device import JUNOS, XR, Device, Dropping

ALL = frozenset(TABLES)
JUNOS_ANSWERS = {
    "get-system-information": """<system-information><hardware-model>ex4300</hardware-model>
        <os-name>junos</os-name><os-version>21.4R3</os-version><serial-number>PE0</serial-number>
        <host-name>sw1</host-name></system-information>""",
    "get-system-uptime-information": """<system-uptime-information><uptime-information>
        <up-time seconds="4242">1:10</up-time></uptime-information></system-uptime-information>""",
    "get-interface-information": """<interface-information><physical-interface><name>
ge-0/0/0
</name><admin-status format="Enabled">up</admin-status><oper-status>up</oper-status>
        <description>to the core</description><speed>1000mbps</speed><mtu>1514</mtu>
        <snmp-index>501</snmp-index><link-mode>Full-duplex</link-mode>
        <current-physical-address>02:00:00:00:00:01</current-physical-address>
        <traffic-statistics><input-bytes>10</input-bytes><output-bytes>20</output-bytes></traffic-statistics>
        <logical-interface><name>ge-0/0/0.0</name><if-config-flags><iff-up/></if-config-flags>
          <address-family><address-family-name>inet</address-family-name><interface-address>
            <ifa-destination>10.0.0.0/24</ifa-destination><ifa-local>10.0.0.1</ifa-local>
          </interface-address></address-family>
          <address-family><address-family-name>aenet</address-family-name>
            <ae-bundle-name>ae1.0</ae-bundle-name></address-family></logical-interface>
        </physical-interface></interface-information>""",
    "get-lldp-neighbors-information": """<lldp-neighbors-information><lldp-neighbor-information>
        <lldp-local-interface>ge-0/0/0</lldp-local-interface></lldp-neighbor-information>
        </lldp-neighbors-information>""",
    "get-lldp-interface-neighbors-information": """<lldp-neighbors-information>
        <lldp-neighbor-information><lldp-remote-chassis-id>02:00:00:00:00:AA</lldp-remote-chassis-id>
        <lldp-remote-port-id>xe-0/0/1</lldp-remote-port-id>
        <lldp-remote-port-description>to sw1</lldp-remote-port-description>
        <lldp-remote-system-name>core</lldp-remote-system-name>
        <lldp-system-description><lldp-remote-system-description>a core</lldp-remote-system-description>
        </lldp-system-description><lldp-system-capabilities>
        <lldp-remote-system-capabilities-enabled>Bridge Router</lldp-remote-system-capabilities-enabled>
        </lldp-system-capabilities></lldp-neighbor-information></lldp-neighbors-information>""",
    "get-ethernet-switching-table-information": """<l2ng-l2ald-rtb-macdb><l2ng-mac-entry>
        <l2ng-l2-mac-address>02:00:00:00:00:50</l2ng-l2-mac-address>
        <l2ng-l2-mac-vlan-name>7</l2ng-l2-mac-vlan-name>
        <l2ng-l2-mac-logical-interface>ge-0/0/0.0</l2ng-l2-mac-logical-interface>
        <l2ng-l2-mac-flags>D</l2ng-l2-mac-flags></l2ng-mac-entry></l2ng-l2ald-rtb-macdb>""",
    "get-arp-table-information": """<arp-table-information><arp-table-entry>
        <mac-address>02:00:00:00:00:aa</mac-address><ip-address>10.0.0.9</ip-address>
        <interface-name>ge-0/0/0.0</interface-name></arp-table-entry></arp-table-information>""",
    "get-vlan-information": """<l2ng-l2ald-vlan-instance-information><l2ng-l2ald-vlan-instance-group>
        <l2ng-l2rtb-vlan-name>users</l2ng-l2rtb-vlan-name><l2ng-l2rtb-vlan-tag>7</l2ng-l2rtb-vlan-tag>
        <l2ng-l2rtb-vlan-member>
        <l2ng-l2rtb-vlan-member-interface>ge-0/0/0.0*</l2ng-l2rtb-vlan-member-interface>
        <l2ng-l2rtb-vlan-member-tagness>tagged</l2ng-l2rtb-vlan-member-tagness></l2ng-l2rtb-vlan-member>
        </l2ng-l2ald-vlan-instance-group></l2ng-l2ald-vlan-instance-information>""",
}


async def collected(device: Device, *, device_type: str = "generic") -> Collected:
    target = PolledDevice(device_type=device_type, channels={"netconf": device})
    return await NetconfCollector().collect(target, ALL)


@pytest.mark.parametrize("pieces", [1, 100, 100_000])
@pytest.mark.parametrize("versions", [("1.0",), ("1.1",), ("1.0", "1.1")])
async def test_a_switch_with_junos(versions: tuple[str, ...], pieces: int) -> None:
    found = await collected(Device(JUNOS_ANSWERS, JUNOS, versions=versions, pieces=pieces))
    assert found.problems == {}
    assert found.status == DeviceFacts(
        sys_name="sw1",
        vendor="Juniper",
        model="ex4300",
        os_version="21.4R3",
        serial_number="PE0",
        uptime_seconds=4242,
        device_type="juniper_junos",
    )
    physical, unit = found.interfaces or ()
    assert (physical.name, physical.description, physical.speed_mbps, physical.duplex, physical.lag) == (
        "ge-0/0/0",
        "to the core",
        1000,
        "full",
        "ae1",
    )
    assert (physical.mac_address, physical.if_index, physical.counters.in_octets) == (
        "02:00:00:00:00:01",
        501,
        10,
    )
    assert (unit.name, unit.oper_status, unit.ip_addresses) == (
        "ge-0/0/0.0",
        "up",
        (InterfaceAddress(address="10.0.0.1", prefix_length=24),),
    )
    assert found.neighbors == [
        Neighbor(
            local_interface="ge-0/0/0",
            protocol="lldp",
            remote_system_name="core",
            remote_chassis_id="02:00:00:00:00:aa",
            remote_port="xe-0/0/1",
            remote_port_description="to sw1",
            remote_platform="a core",
            remote_capabilities=("bridge", "router"),
        )
    ]
    assert found.mac == [
        MacEntry(mac_address="02:00:00:00:00:50", vlan_id=7, interface="ge-0/0/0.0", type="dynamic")
    ]
    assert found.arp == [
        ArpEntry(
            ip_address="10.0.0.9", mac_address="02:00:00:00:00:aa", interface="ge-0/0/0.0", type="dynamic"
        )
    ]
    assert found.vlans == [Vlan(vlan_id=7, name="users", status="active", tagged_interfaces=("ge-0/0/0.0",))]


async def test_an_operation_that_is_refused_costs_its_table() -> None:
    answers = {name: answer for name, answer in JUNOS_ANSWERS.items() if "arp" not in name}
    found = await collected(Device(answers, JUNOS))
    assert found.given == ALL - {"arp"}
    assert found.problems == {"arp": "syntax error"}


async def test_a_warning_is_no_refusal() -> None:
    warning = (
        "<rpc-error><error-severity>warning</error-severity><error-message>x</error-message></rpc-error>"
    )
    answer = JUNOS_ANSWERS["get-arp-table-information"]
    found = await collected(Device({**JUNOS_ANSWERS, "get-arp-table-information": warning + answer}, JUNOS))
    assert found.given == ALL


@pytest.mark.parametrize("after", range(2, 8))
async def test_a_connection_that_drops_costs_what_comes_behind(after: int) -> None:
    found = await collected(Dropping(after, JUNOS_ANSWERS, JUNOS))
    assert found.given | set(found.problems) == ALL
    assert found.given.isdisjoint(found.problems)
    assert set(found.problems.values()) == {"the connection dropped"}


@pytest.mark.parametrize("after", [0, 1])
async def test_a_connection_that_drops_before_the_first_table_is_a_failure(after: int) -> None:
    with pytest.raises(DeviceFailed, match="dropped"):
        await collected(Dropping(after, JUNOS_ANSWERS, JUNOS))


BOMB = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>'
BROKEN: list[Any] = [
    pytest.param(lambda reply: reply.replace(b"</rpc-reply>", b""), id="XML that is cut"),
    pytest.param(lambda reply: b"garbage" + reply, id="garbage in front"),
    pytest.param(lambda reply: reply.replace(b'message-id="1"', b'message-id="7"'), id="another request"),
    pytest.param(lambda reply: reply.replace(b"rpc-reply", b"rpc-other"), id="another element"),
    pytest.param(lambda reply: b"\n#9999999999\n", id="an endless chunk"),
    pytest.param(lambda reply: b"", id="nothing"),
]


@pytest.mark.parametrize("spoil", BROKEN)
async def test_a_device_that_breaks_the_rules_is_a_failure(spoil: Any) -> None:
    with pytest.raises(DeviceFailed) as failed:
        await collected(Device(JUNOS_ANSWERS, JUNOS, spoil=spoil))
    assert failed.value.kind == "lost"


async def test_entities_are_not_expanded() -> None:
    def spoil(reply: bytes) -> bytes:
        body = reply.partition(b"<rpc-reply")[2]
        message = BOMB.encode() + b"<rpc-reply" + body.removesuffix(b"]]>]]>").replace(b"sw1", b"&b;")
        return message + b"]]>]]>"

    with pytest.raises(DeviceFailed, match="no XML that can be read"):
        await collected(Device(JUNOS_ANSWERS, JUNOS, versions=("1.0",), spoil=spoil))


async def test_a_device_of_another_vendor() -> None:
    with pytest.raises(DeviceFailed, match="neither Junos nor IOS XR"):
        await collected(Device({}, "http://example.com/other"))


async def test_the_type_of_the_device_helps_where_it_says_nothing() -> None:
    assert (await collected(Device(JUNOS_ANSWERS), device_type="juniper_junos")).given == ALL


async def test_a_router_with_ios_xr() -> None:
    inventory = """<data><system-time><uptime><host-name>r1</host-name><uptime>77</uptime></uptime>
        </system-time><inventory><entities><entity><name>Rack 0</name><attributes><inv-basic-bag>
        <software-revision>7.5.2</software-revision><serial-number>FOX0</serial-number>
        <model-name>ASR-9006</model-name></inv-basic-bag></attributes></entity></entities></inventory></data>"""
    shown = """<data><interfaces><interface-xr><interface><interface-name>TenGigE0/0/0/0</interface-name>
        <state>im-state-up</state><line-state>im-state-up</line-state><bandwidth>10000000</bandwidth>
        <mtu>1514</mtu><mac-address><address>0200.0000.0001</address></mac-address></interface>
        <interface><interface-name>Null0</interface-name><state>im-state-admin-down</state></interface>
        </interface-xr></interfaces></data>"""
    addresses = """<data><ipv4-network><nodes><node><detail><interface-name>TenGigE0/0/0/0</interface-name>
        <primary-address>10.0.0.1</primary-address><prefix-length>31</prefix-length></detail></node></nodes>
        </ipv4-network></data>"""
    answers = {"invmgr-oper": inventory, "pfi-im-cmd-oper": shown, "ipv4-io-oper": addresses}
    found = await collected(Device(answers, XR))
    assert found.given == {"status", "interfaces"}
    assert set(found.problems) == {"neighbors", "mac", "arp"}
    assert found.status == DeviceFacts(
        sys_name="r1",
        vendor="Cisco",
        model="ASR-9006",
        os_version="7.5.2",
        serial_number="FOX0",
        uptime_seconds=77,
        device_type="cisco_xr",
    )
    first, null = found.interfaces or ()
    assert (first.oper_status, first.speed_mbps, first.mac_address, first.ip_addresses) == (
        "up",
        10_000,
        "02:00:00:00:00:01",
        (InterfaceAddress(address="10.0.0.1", prefix_length=31),),
    )
    assert (null.admin_status, null.oper_status) == ("down", "down")


async def test_a_table_of_many_rows() -> None:
    entry = JUNOS_ANSWERS["get-arp-table-information"].partition(">")[2].rpartition("<")[0]
    rows = "".join(
        entry.replace("10.0.0.9", f"10.{number >> 8}.{number & 255}.9") for number in range(20_000)
    )
    answer = f"<arp-table-information>{rows}</arp-table-information>"
    device = Device({**JUNOS_ANSWERS, "get-arp-table-information": answer}, JUNOS, pieces=65_536)
    assert len((await collected(device)).arp or ()) == 20_000
