"""The VLANs of Junos, with ELS, without it, and of MX: which of their members are tagged."""

from defusedxml.ElementTree import fromstring

from netautod_netconf.junos_vlans import vlans_of

ELS = """<x><l2ng-l2ald-vlan-instance-group>
  <l2ng-l2rtb-vlan-name>users</l2ng-l2rtb-vlan-name><l2ng-l2rtb-vlan-tag>10</l2ng-l2rtb-vlan-tag>
  <l2ng-l2rtb-vlan-member><l2ng-l2rtb-vlan-member-interface>xe-0/0/1.0*</l2ng-l2rtb-vlan-member-interface>
    <l2ng-l2rtb-vlan-member-tagness>untagged</l2ng-l2rtb-vlan-member-tagness></l2ng-l2rtb-vlan-member>
  <l2ng-l2rtb-vlan-member><l2ng-l2rtb-vlan-member-interface>xe-0/0/2.0</l2ng-l2rtb-vlan-member-interface>
    <l2ng-l2rtb-vlan-member-tagness>tagged</l2ng-l2rtb-vlan-member-tagness></l2ng-l2rtb-vlan-member>
</l2ng-l2ald-vlan-instance-group></x>"""
MX = """<x><l2ald-bridge-instance-group><l2rtb-bridging-domain>users</l2rtb-bridging-domain>
  <l2rtb-bridge-vlan>10</l2rtb-bridge-vlan><l2rtb-interface-name>ge-2/0/1.0</l2rtb-interface-name>
  <l2rtb-interface-name>ge-2/0/2.0</l2rtb-interface-name></l2ald-bridge-instance-group>
<l2ald-bridge-instance-group><l2rtb-bridging-domain>phones</l2rtb-bridging-domain>
  <l2rtb-bridge-vlan>20</l2rtb-bridge-vlan><l2rtb-interface-name>ge-2/0/2.0</l2rtb-interface-name>
</l2ald-bridge-instance-group></x>"""
PLAIN = """<x><vlan><vlan-name>users</vlan-name><vlan-tag>10</vlan-tag><vlan-detail><vlan-member-list>
  <vlan-member><vlan-member-interface>ge-0/0/1.0*</vlan-member-interface></vlan-member>
  <vlan-member><vlan-member-interface>ge-0/0/2.0</vlan-member-interface></vlan-member>
</vlan-member-list></vlan-detail></vlan>
<vlan><vlan-name>phones</vlan-name><vlan-tag>20</vlan-tag><vlan-detail><vlan-member-list>
  <vlan-member><vlan-member-interface>ge-0/0/2.0*</vlan-member-interface></vlan-member>
</vlan-member-list></vlan-detail></vlan>
<vlan><vlan-name>empty</vlan-name><vlan-tag>30</vlan-tag><vlan-detail><vlan-member-list>
  <vlan-member><vlan-member-interface>None</vlan-member-interface></vlan-member>
</vlan-member-list></vlan-detail></vlan>
<vlan><vlan-name>default</vlan-name><vlan-tag>0</vlan-tag><vlan-detail><vlan-member-list>
  <vlan-member><vlan-member-interface>ge-0/0/0.0*</vlan-member-interface></vlan-member>
</vlan-member-list></vlan-detail></vlan></x>"""


def read(answer: str) -> list[tuple[int, str | None, list[str], list[str]]]:
    return [
        (one.vlan_id, one.name, list(one.tagged_interfaces), list(one.untagged_interfaces))
        for one in vlans_of(fromstring(answer))
    ]


def test_the_tagging_of_a_member_counts() -> None:
    assert read(ELS) == [(10, "users", ["xe-0/0/2.0"], ["xe-0/0/1.0"])]


def test_a_port_in_several_vlans_is_a_trunk() -> None:
    assert read(MX) == [
        (10, "users", ["ge-2/0/2.0"], ["ge-2/0/1.0"]),
        (20, "phones", ["ge-2/0/2.0"], []),
    ]


def test_no_member_is_none_and_the_tag_0_is_no_vlan() -> None:
    assert read(PLAIN) == [
        (10, "users", ["ge-0/0/2.0"], ["ge-0/0/1.0"]),
        (20, "phones", ["ge-0/0/2.0"], []),
        (30, "empty", [], []),
    ]
