"""A switch with EOS of our own making, and the API that answers for it."""

import json
from collections.abc import Mapping
from typing import Any

from netautod.plugin_api import DeviceFailed, HttpReply
from netautod.testing import PolledDevice

INTERFACES: dict[str, Any] = {
    "Ethernet1": {
        "name": "Ethernet1",
        "description": "to the core",
        "hardware": "ethernet",
        "interfaceStatus": "connected",
        "lineProtocolStatus": "up",
        "bandwidth": 10_000_000_000,
        "duplex": "duplexFull",
        "mtu": 9214,
        "physicalAddress": "02:00:00:00:00:01",
        "lastStatusChangeTimestamp": 1_750_000_000.5,
        "interfaceCounters": {
            "inOctets": 10,
            "outOctets": 20,
            "totalInErrors": 1,
            "totalOutErrors": 2,
            "inDiscards": 3,
            "outDiscards": 4,
        },
    },
    "Ethernet2": {"name": "Ethernet2", "interfaceStatus": "disabled", "lineProtocolStatus": "down"},
    "Port-Channel1": {
        "name": "Port-Channel1",
        "hardware": "portChannel",
        "interfaceStatus": "connected",
        "lineProtocolStatus": "up",
        "memberInterfaces": {"Ethernet1": {}},
    },
}
ANSWERS: dict[str, Any] = {
    "show version": {
        "modelName": "DCS-7050",
        "serialNumber": "JPE0",
        "version": "4.30.1F",
        "systemMacAddress": "02:00:00:00:00:99",
        "memTotal": 1000,
        "memFree": 250,
    },
    "show hostname": {"hostname": "sw1", "fqdn": "sw1.example.net"},
    "show interfaces": {"interfaces": INTERFACES},
    "show ip interface": {
        "interfaces": {
            "Ethernet1": {
                "interfaceAddress": {
                    "primaryIp": {"address": "10.0.0.1", "maskLen": 31},
                    "secondaryIpsOrderedList": [{"address": "10.9.0.1", "maskLen": 24}],
                }
            }
        }
    },
    "show ipv6 interface": {
        "interfaces": {
            "Ethernet1": {
                "addresses": [{"address": "2001:db8::1", "subnet": "2001:db8::/64"}],
                "linkLocal": {"address": "fe80::1", "subnet": "fe80::/64"},
            }
        }
    },
    "show interfaces switchport": {
        "switchports": {
            "Ethernet2": {"switchportInfo": {"mode": "access", "accessVlanId": 7}},
            "Port-Channel1": {"switchportInfo": {"mode": "trunk", "trunkingNativeVlanId": 1}},
        }
    },
    "show lldp neighbors detail": {
        "lldpNeighbors": {
            "Ethernet1": {
                "lldpNeighborInfo": [
                    {
                        "systemName": "core",
                        "chassisId": "0200.0000.00aa",
                        "systemDescription": "a core switch",
                        "systemCapabilities": {"bridge": True, "router": False},
                        "managementAddresses": [{"address": "2001:db8::9"}, {"address": "10.0.0.9"}],
                        "neighborInterfaceInfo": {
                            "interfaceId": '"Et5"',
                            "interfaceIdType": "interfaceName",
                            "interfaceDescription": "to sw1",
                        },
                    }
                ]
            },
            "Ethernet2": {"lldpNeighborInfo": []},
        }
    },
    "show mac address-table": {
        "unicastTable": {
            "tableEntries": [
                {
                    "macAddress": "02:00:00:00:00:50",
                    "vlanId": 7,
                    "interface": "Ethernet2",
                    "entryType": "dynamic",
                }
            ]
        }
    },
    "show arp vrf all": {
        "vrfs": {
            "default": {
                "ipV4Neighbors": [
                    {
                        "address": "10.0.0.9",
                        "hwAddress": "0200.0000.00aa",
                        "interface": "Vlan7, Ethernet1",
                        "age": 5,
                    }
                ]
            },
            "blue": {"ipV4Neighbors": [{"address": "10.1.0.9", "hwAddress": "0200.0000.00ab"}]},
        }
    },
    "show ipv6 neighbors vrf all": {
        "vrfs": {
            "default": {
                "ipV6Neighbors": [{"address": "2001:db8::9", "hwAddress": "0200.0000.00aa", "age": 5}]
            }
        }
    },
    "show vlan": {
        "vlans": {
            "1": {"name": "default", "status": "active", "interfaces": {"Port-Channel1": {}}},
            "7": {"name": "users", "status": "active", "interfaces": {"Port-Channel1": {}, "Ethernet2": {}}},
        }
    },
}


class Switch(PolledDevice):
    """A switch that answers commands by `answers`; it refuses other commands. A bytes answer is the whole
    body.
    """

    def __init__(self, answers: Mapping[str, Any]) -> None:
        super().__init__(device_type="arista_eos")
        self._answers = answers

    async def post(self, path: str, body: Any, *, port: int, seconds: float) -> HttpReply:
        assert (path, port, body["method"], body["params"]["version"]) == ("/command-api", 443, "runCmds", 1)
        [command] = body["params"]["cmds"]
        self.sent.append(command)
        answer = self._answers.get(command)
        if isinstance(answer, DeviceFailed):
            raise answer
        if isinstance(answer, HttpReply):
            return answer
        if isinstance(answer, bytes):
            return HttpReply(status=200, body=answer)
        if answer is None:
            errors = {"errors": ["Invalid input (at token 1: 'x')"]}
            error = {"code": 1002, "message": "CLI command 1 of 1 failed", "data": [errors]}
            return _reply({"jsonrpc": "2.0", "id": "netautod", "error": error})
        return _reply({"jsonrpc": "2.0", "id": "netautod", "result": [answer]})


def _reply(content: Any) -> HttpReply:
    return HttpReply(status=200, body=json.dumps(content).encode())
