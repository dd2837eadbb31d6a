"""The VLANs of Junos' XML, with their members."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from netautod.plugin_api import Vlan, device_text
from netautod_netconf.elements import each, text, whole


@dataclass(frozen=True, kw_only=True)
class _Form:
    """The elements of one form of the answer; `member` stands below the VLAN, the last two below that."""

    number: str
    name: str
    member: str
    interface: str
    tagness: str = "none"


# With ELS, of MX, and without ELS.
VLAN_ENTRIES = {
    "l2ng-l2ald-vlan-instance-group": _Form(
        number="l2ng-l2rtb-vlan-tag",
        name="l2ng-l2rtb-vlan-name",
        member="l2ng-l2rtb-vlan-member",
        interface="l2ng-l2rtb-vlan-member-interface",
        tagness="l2ng-l2rtb-vlan-member-tagness",
    ),
    "l2ald-bridge-instance-group": _Form(
        number="l2rtb-bridge-vlan",
        name="l2rtb-bridging-domain",
        member="l2rtb-interface-name",
        interface="l2rtb-interface-name",
    ),
    "vlan": _Form(
        number="vlan-tag",
        name="vlan-name",
        member="vlan-member",
        interface="vlan-member-interface",
        tagness="vlan-member-tagness",
    ),
}
NO_MEMBER = "None"


def vlans_of(reply: Element) -> Iterator[Vlan]:
    """Yield the VLANs. Some forms do not say of a member whether it is tagged.

    The untagged frames of a port belong to one VLAN (IEEE 802.1Q, 12.10.2): a port that is in several is
    taken for a trunk in all of them. The VLAN of ports that have none has the tag 0, which is no VLAN.
    """
    listed = [
        (form, one, vlan, dict(_members(one, form)))
        for kind, form in VLAN_ENTRIES.items()
        for one in each(reply, kind)
        if (vlan := whole(one, form.number))
    ]
    often = Counter(name for *_, members in listed for name in members)
    for form, one, vlan, members in listed:
        tagged = {
            name
            for name, tagging in members.items()
            if tagging == "tagged" or (not tagging and often[name] > 1)
        }
        yield Vlan(
            vlan_id=vlan,
            name=device_text(text(one, form.name)),
            status="active",
            tagged_interfaces=tuple(name for name in members if name in tagged),
            untagged_interfaces=tuple(name for name in members if name not in tagged),
        )


def _members(vlan: Element, form: _Form) -> Iterator[tuple[str, str | None]]:
    """Yield each interface, with what the reply says about it."""
    for found in each(vlan, form.member):
        name = text(found) if form.member == form.interface else text(found, form.interface)
        if name and name != NO_MEMBER:
            yield name.rstrip("*"), text(found, form.tagness)
