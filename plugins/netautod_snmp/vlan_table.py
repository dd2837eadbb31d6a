"""VLANs in the making: names, states and members from several tables of one device."""

from dataclasses import dataclass, field

from netautod.plugin_api import Vlan

MOST_VLAN = 4094


@dataclass(frozen=True, kw_only=True)
class VlanTable:
    """A table of VLANs. `natives`: the VLAN of untagged frames by ifIndex."""

    vlans: list[Vlan]
    natives: dict[int, int] = field(default_factory=dict)


@dataclass(kw_only=True)
class Building:
    names: dict[int, str | None] = field(default_factory=dict)
    states: dict[int, str] = field(default_factory=dict)
    tagged: dict[int, dict[str, None]] = field(default_factory=dict)
    untagged: dict[int, dict[str, None]] = field(default_factory=dict)
    natives: dict[int, int] = field(default_factory=dict)

    def add(self, vlan: int | None, name: str | None = None, state: str | None = None) -> None:
        if vlan is None or not 1 <= vlan <= MOST_VLAN:
            return
        self.names[vlan] = name or self.names.get(vlan)
        if state is not None:
            self.states[vlan] = state

    def member(self, vlan: int, interface: str | None, *, tagged: bool) -> None:
        if interface is None or not 1 <= vlan <= MOST_VLAN:
            return
        self.add(vlan)
        (self.tagged if tagged else self.untagged).setdefault(vlan, {})[interface] = None

    def built(self) -> VlanTable:
        vlans = [
            Vlan(
                vlan_id=vlan,
                name=name,
                status=self.states.get(vlan, "active"),
                tagged_interfaces=tuple(
                    one for one in self.tagged.get(vlan, ()) if one not in self.untagged.get(vlan, ())
                ),
                untagged_interfaces=tuple(self.untagged.get(vlan, ())),
            )
            for vlan, name in sorted(self.names.items())
        ]
        return VlanTable(vlans=vlans, natives=self.natives)
