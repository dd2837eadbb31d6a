"""The interfaces of a device as other tables name them: by ifIndex, by bridge port, by name."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Ports:
    """The ports, all by ifIndex. `names` are those that are stored; `bridge` has the ifIndex of bridge ports
    (dot1dBasePortIfIndex).
    """

    names: Mapping[int, str] = field(default_factory=dict)
    short_names: Mapping[int, str] = field(default_factory=dict)
    descriptions: Mapping[int, str] = field(default_factory=dict)
    aliases: Mapping[int, str] = field(default_factory=dict)
    macs: Mapping[int, str] = field(default_factory=dict)
    bridge: Mapping[int, int] = field(default_factory=dict)

    def of_bridge_port(self, port: int) -> str | None:
        """Return the interface of a bridge port; some agents have no map and number both alike."""
        if self.bridge:
            return self.names.get(self.bridge.get(port, -1))
        return self.names.get(port)
