"""Polls of a running service: two switches that hear each other, one by SNMP, one on its command line."""

import asyncio
from pathlib import Path
from typing import Any

from netautod.testing import SimulatedDevice
from tests.e2e.console import Console
from tests.plugins.cli.outputs import IOS
from tests.plugins.snmp.switch import mac, recording, text
from tests.support.client import ApiClient
from tests.support.programs.service import serving
from tests.support.servers.snmp_agent import serving_agent

LLDP = "1.0.8802.1.1.2.1.4.1.1"


async def polled(client: ApiClient, device: str) -> Any:
    """The newest poll, once it has ended."""
    answer = await client.post(f"/api/devices/{device}/poll")
    assert (answer.status, answer.json["state"]) == (202, "queued")
    while True:
        [newest, *_] = (await client.get(f"/api/devices/{device}/poll-history")).json["polls"]
        if newest["id"] == answer.json["poll_id"] and newest["completed_at"] is not None:
            return newest
        await asyncio.sleep(0.1)


async def test_two_switches_are_polled_and_drawn(tmp_path: Path) -> None:
    # sw1 is the switch on the command line; the other one hears it on ge1.
    heard = {
        f"{LLDP}.5.0.1.1": text(mac(0)),
        f"{LLDP}.7.0.1.1": text("Gi1/0/1"),
        f"{LLDP}.9.0.1.1": text("sw1"),
        "1.3.6.1.2.1.1.5.0": text("core.example.net"),
    }
    changes = {f"o{oid.replace('.', '_')}": value for oid, value in heard.items()}
    # As sw1 names it: GigabitEthernet0/1.
    changes |= {
        "o1_3_6_1_2_1_2_2_1_2_1": text("GigabitEthernet0/1"),
        "o1_3_6_1_2_1_31_1_1_1_1_1": text("Gi0/1"),
    }
    changes["o1_0_8802_1_1_2_1_3_7_1_3_1"] = text("GigabitEthernet0/1")
    async with (
        serving_agent({"c0mmunity": recording(**changes)}) as agent,
        SimulatedDevice(hostname="sw1", responses=IOS) as switch,
        serving(tmp_path / "data") as service,
    ):
        client = await service.client()
        console = Console(client=client)
        login = await console.credential("lab")
        body = {
            "name": "snmp",
            "credential_type": "snmp_community",
            "secret": "c0mmunity",
            "port": agent.port,
        }
        community = (await client.post("/api/credentials", body)).json["id"]
        sw1 = await console.device("sw1", switch.port, default_credential_id=login)
        core = await console.device("core", 9, snmp_credential_id=community, device_type="generic")
        by_cli, by_snmp = await polled(client, sw1), await polled(client, core)
        assert (by_cli["state"], by_cli["method"], by_cli["error"]) == ("completed", "cli", None)
        assert set(by_cli["sources"].values()) == {"cli"}
        assert (by_snmp["method"], by_snmp["counts"]["mac"]) == ("snmp", 1)
        topology = (await client.get("/api/devices/topology")).json
        assert {node["device_id"] for node in topology["nodes"]} == {sw1, core}
        [link] = topology["links"]
        assert {(link[end]["node"], link[end]["interface"]) for end in ("a", "b")} == {
            (sw1, "GigabitEthernet1/0/1"),
            (core, "GigabitEthernet0/1"),
        }
        found = await client.get("/api/devices/find?mac=02:00:00:00:00:32")
        assert {match["device_name"] for match in found.json["matches"]} == {"sw1", "core"}
        neighbors = (await client.get(f"/api/devices/{sw1}/neighbors")).json["neighbors"]
        assert [row["remote_device_id"] for row in neighbors] == [core]
        device = (await client.get(f"/api/devices/{sw1}")).json
        assert (device["manufacturer"], device["model"], device["serial_number"]) == (
            "Cisco",
            "WS-C2960X-24TS-L",
            "FOC0000A0AA",
        )
