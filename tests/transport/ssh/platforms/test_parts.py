"""The parts that platforms store beside the config: they name them alike, and noise never changes what is
stored.
"""

import pytest

from netautod.transport.ssh.platform.registry import PlatformRegistry

NAMES = {"startup", "inventory", "version", "licenses", "system"}
WITHOUT = {"generic", "linux"}  # nobody knows what it is; its capture lists versions and interfaces itself


@pytest.mark.parametrize(
    "name",
    [
        *("arista_eos", "aruba_aoscx", "cisco_asa", "cisco_ios", "cisco_nxos", "cisco_xr", "dell_os10"),
        *("extreme_exos", "fortinet", "frr", "hp_comware", "hp_procurve", "huawei_vrp", "juniper_junos"),
        *("mikrotik_routeros", "nokia_sros", "paloalto_panos", "ubiquiti_edgeos", "vyos"),
    ],
)
def test_a_platform_has_parts_under_common_names(platforms: PlatformRegistry, name: str) -> None:
    parts = {part.name: part for part in platforms.get(name).parts}
    assert parts
    assert set(parts) <= NAMES
    assert all(part.difference == (part.name == "startup") for part in parts.values())


@pytest.mark.parametrize("name", sorted(WITHOUT))
def test_some_have_none(platforms: PlatformRegistry, name: str) -> None:
    assert platforms.get(name).parts == ()


@pytest.mark.parametrize(
    ("platform", "part", "lines"),
    [
        pytest.param("cisco_ios", "version", ["sw1 uptime is 3 weeks, 2 days"], id="IOS, uptime"),
        pytest.param("cisco_ios", "startup", ["Using 4293 out of 524288 bytes"], id="IOS, size of NVRAM"),
        pytest.param("cisco_ios", "licenses", ["  Next Renewal Attempt: Mar 8"], id="IOS, smart licensing"),
        pytest.param("cisco_nxos", "version", ["Kernel uptime is 3 day(s), 1 hour(s)"], id="NX-OS, uptime"),
        pytest.param("cisco_nxos", "startup", ["!Time: Sat Nov 21 2026"], id="NX-OS, time"),
        pytest.param("cisco_xr", "version", ["edge1 uptime is 2 weeks"], id="XR, uptime"),
        pytest.param(
            "cisco_asa",
            "version",
            ["fw1 up 12 days 3 hours", "Running Permanent Activation Key: 0x1 0x2 0x3 0x4 0x5"],
            id="ASA, uptime and the key that activates",
        ),
        pytest.param("arista_eos", "version", ["Uptime: 3 weeks", "Free memory: 12 kB"], id="EOS, uptime"),
        pytest.param("huawei_vrp", "version", ["HUAWEI S5720 Routing Switch uptime is 5 days"], id="VRP"),
        pytest.param("hp_comware", "version", ["H3C S5560 uptime is 0 weeks, 5 days"], id="Comware"),
        pytest.param(
            "aruba_aoscx", "system", ["Up Time            : 3 weeks", "CPU Util (%) : 7"], id="AOS-CX"
        ),
        pytest.param("dell_os10", "version", ["Up Time: 3 days 02:01:00"], id="OS10"),
        pytest.param(
            "fortinet",
            "version",
            ["System time: Sat Nov 21 06:44:12 2026", "Virus-DB: 91.00123(2026-11-21 05:00)"],
            id="FortiOS, time and signatures",
        ),
        pytest.param(
            "paloalto_panos",
            "version",
            ["uptime: 12 days, 3:04:05", "time: Sat Nov 21", "app-version: 8777-1", "av-version: 1"],
            id="PAN-OS, times and versions of content",
        ),
        pytest.param("ubiquiti_edgeos", "version", ["Uptime:        06:44:12 up 12 days"], id="EdgeOS"),
    ],
)
def test_noise_of_a_part(platforms: PlatformRegistry, platform: str, part: str, lines: list[str]) -> None:
    found = next(item for item in platforms.get(platform).parts if item.name == part)
    assert found.without_noise(["Model: X", *lines, "Serial: Y"]) == ["Model: X", "Serial: Y"]
