"""Firewalls, load balancers and fabrics: prompts in every state, refusals, log lines, and what is noise."""

import pytest

from netautod.network.configs.texts.normalise import normalise
from netautod.transport.ssh.platform.registry import PlatformRegistry
from netautod.transport.ssh.session import refused
from tests.support.tables import over

_REGISTRY = PlatformRegistry()


@over(
    ("platform", "line", "expected"),
    [
        pytest.param("juniper_screenos", "ssg5-> ", ("exec", "ssg5")),
        pytest.param(
            "juniper_screenos", "ssg5(M)-> ", ("exec", "ssg5"), id="ScreenOS, the master of a cluster"
        ),
        pytest.param("juniper_screenos", "isg2000(vsys1)(B)-> ", ("exec", "isg2000"), id="ScreenOS, a vsys"),
        pytest.param("juniper_screenos", "set policy id 1", None, id="ScreenOS, a line of its configuration"),
        pytest.param(
            "f5_tmsh", "admin@(bigip1)(cfg-sync In Sync)(Active)(/Common)(tmos)# ", ("privileged", "bigip1")
        ),
        pytest.param(
            "f5_tmsh", "root@(lb2)(cfg-sync Changes Pending)(Standby)(/)(tmos)#", ("privileged", "lb2")
        ),
        pytest.param(
            "f5_tmsh",
            "admin@(lb)(cfg-sync Standalone)(/S1-green-P:Active)(/Common)(tmos.ltm)# ",
            ("privileged", "lb"),
        ),
        pytest.param(
            "f5_tmsh", "[admin@bigip1:Active:Standalone] ~ # ", None, id="bash is no prompt of tmsh"
        ),
        pytest.param("a10", "vThunder(NOLICENSE)#", ("privileged", "vThunder")),
        pytest.param("a10", "lb1-Active>", ("exec", "lb1")),
        pytest.param("a10", "lb1-Standby-vBlade[1/2](config)#", ("config", "lb1")),
        pytest.param("a10", "AX-Active[tenant1]#", ("privileged", "AX"), id="ACOS, a partition"),
        pytest.param("a10", "lb1(config:1-if:ethernet:1)#", ("config", "lb1")),
        pytest.param("netscaler", "> ", ("exec", "")),
        pytest.param("netscaler", "nsroot@adc1-Primary> ", ("exec", "nsroot@adc1")),
        pytest.param("netscaler", " Done", None),
        pytest.param("checkpoint_gaia", "gw1> ", ("exec", "gw1")),
        pytest.param("checkpoint_gaia", "gw1:TACP-0> ", ("exec", "gw1"), id="Gaia, a role of TACACS"),
        pytest.param("checkpoint_gaia", "vsx1:0> ", ("exec", "vsx1"), id="Gaia, a virtual system"),
        pytest.param("sonicwall_sshv2", "admin@18B169ABCDEF> ", ("exec", "18B169ABCDEF")),
        pytest.param("sonicwall_sshv2", "config(18B169ABCDEF)# ", ("config", "18B169ABCDEF")),
        pytest.param("watchguard_fireware", "WG#", ("privileged", "WG")),
        pytest.param("watchguard_fireware", "[FAULT]WG<managed-by-wsm><master>>", ("exec", "WG")),
        pytest.param("watchguard_fireware", "WG<non-master>(config/policy)#", ("config", "WG")),
        pytest.param("sophos_sfos", "console> ", ("exec", "console")),
        pytest.param("hillstone_stoneos", "SG-6000(M)# ", ("exec", "SG-6000")),
        pytest.param("hillstone_stoneos", "SG-6000(config-if-eth0/1)# ", ("config", "SG-6000")),
        pytest.param("hillstone_stoneos", "SG-6000(config)(B)# ", ("config", "SG-6000")),
        pytest.param("mellanox_mlnxos", "sw4 [standalone: master] > ", ("exec", "sw4")),
        pytest.param("mellanox_mlnxos", "sw4 [mlag-vip: standby] (config) # ", ("config", "sw4")),
        pytest.param("mellanox_mlnxos", "sw4 # ", ("privileged", "sw4")),
        pytest.param("mellanox_mlnxos", "## Hostname: sw4", None),
        pytest.param("brocade_fos", "san1:FID128:admin> ", ("exec", "san1")),
        pytest.param("brocade_fos", "san1:root> ", ("exec", "san1")),
        pytest.param("brocade_nos", "sw0(conf-if-te-1/0/1)# ", ("config", "sw0")),
        pytest.param("extreme_vsp", "VSP-4850GTS:1#", ("privileged", "VSP-4850GTS")),
        pytest.param("extreme_vsp", "sw6:1(config-if)#", ("config", "sw6")),
        pytest.param("extreme_ers", "4850GTS-PWR+>", ("exec", "4850GTS-PWR+")),
        pytest.param("extreme_ers", "4850GTS-PWR+(config-if)#", ("config", "4850GTS-PWR+")),
        pytest.param("allied_telesis_awplus", "awplus(config-if)#", ("config", "awplus")),
        pytest.param("alcatel_aos", "-> ", ("exec", "")),
        pytest.param("alcatel_aos", "OS6900 ==> ", ("exec", "OS6900")),
        pytest.param("alcatel_aos", "! VLAN:", None),
    ],
)
def test_prompts(platform: str, line: str, expected: tuple[str, str] | None) -> None:
    assert _REGISTRY.get(platform).mode_of(line) == expected


@over(
    ("platform", "before", "after"),
    [
        pytest.param(
            "juniper_screenos", "fw(M)-> ", "fw(B)-> ", id="ScreenOS, a cluster that changes its master"
        ),
        pytest.param(
            "f5_tmsh",
            "admin@(lb)(cfg-sync In Sync)(Active)(/Common)(tmos)# ",
            "admin@(lb)(cfg-sync Changes Pending)(Standby)(/)(tmos)# ",
            id="BIG-IP, another state, sync and folder",
        ),
        pytest.param("a10", "lb1-Active#", "lb1-Standby#", id="ACOS, a failover"),
        pytest.param("netscaler", "adc1-Primary> ", "adc1-Secondary> ", id="NetScaler, a failover"),
        pytest.param("watchguard_fireware", "WG<master>#", "[FAULT]WG#", id="Fireware, a fault"),
        pytest.param("mellanox_mlnxos", "s [v: master] # ", "s [v: standby] # ", id="Onyx, another master"),
    ],
)
def test_a_change_of_state_is_no_other_prompt(platform: str, before: str, after: str) -> None:
    steady = _REGISTRY.get(platform).steady
    assert steady(before) == steady(after)
    assert steady(before) != steady(before.replace("lb", "xy").replace("fw", "xy").replace("WG", "xy") + "x")


@over(
    ("platform", "line"),
    [
        ("juniper_screenos", "                ^-----unknown keyword config1"),
        ("juniper_screenos", "Failed command - get config"),
        ("f5_tmsh", 'Syntax Error: "recursive" unexpected argument'),
        ("f5_tmsh", "01070822:3: Access Denied: User (reader) may not read the object"),
        ("f5_tmsh", "Unexpected Error: Can't display all items, can't get object count from mcpd"),
        ("a10", "% Unrecognized command.Invalid input detected at '^' marker."),
        ("a10", "% Insufficient privilege"),
        ("netscaler", "ERROR: Not authorized to execute this command [show ns runningConfig]"),
        ("netscaler", "ERROR: No such command"),
        ("checkpoint_gaia", "CLINFR0329  Invalid command:'show configuratio'."),
        ("checkpoint_gaia", "CLINFR0349  Incomplete command."),
        ("pfsense", "cat: /cf/conf/config.xml: Permission denied"),
        ("opnsense", "cat: /conf/config.xml: No such file or directory"),
        ("sonicwall_sshv2", "% Incomplete command"),
        ("watchguard_fireware", "% Unrecognized command 'export'."),
        ("sophos_sfos", "% Error: Unknown Parameter"),
        ("hillstone_stoneos", "     ^-----unrecognized keyword configuratio"),
        ("mellanox_mlnxos", "% Insufficient privileges to run this command"),
        ("brocade_fos", "rbash: configsho: command not found"),
        ("brocade_fos", "RBAC permission denied."),
        ("brocade_nos", "syntax error: unknown argument."),
        ("extreme_vsp", "% Invalid input detected at '^' marker."),
        ("extreme_ers", "% Incomplete command"),
        ("allied_telesis_awplus", "% Ambiguous command"),
        ("alcatel_aos", "ERROR: Authorization failed. No functional privileges for this command"),
    ],
)
def test_refusals(platform: str, line: str) -> None:
    assert refused([line], _REGISTRY.get(platform)) == line.strip()


@over(
    ("platform", "line"),
    [
        ("f5_tmsh", "Nov 21 06:45:01 bigip1 emerg logger[4242]: Re-starting mcpd"),
        ("brocade_nos", "2026/11/21-06:45:01, [NSM-1003], 4242, SW/0 | Active, INFO, sw5, link is down."),
        ("allied_telesis_awplus", "06:45:01 awp1 NSM[414]: Port down notification received for port1.0.7"),
        ("alcatel_aos", "Sat Nov 21 06:45:01 : SYSTEM (75) info message:"),
    ],
)
def test_log_lines(platform: str, line: str) -> None:
    assert _REGISTRY.get(platform).is_log_line(line)


@over(
    ("platform", "before", "after", "is_change"),
    [
        pytest.param("f5_tmsh", "    state up", "    state down", False, id="BIG-IP, a monitor's state"),
        pytest.param("f5_tmsh", "    state up", "    state user-down", True, id="BIG-IP, forced offline"),
        pytest.param(
            "pfsense", "<time>1795243452</time>", "<time>1795247052</time>", False, id="pfSense, saved"
        ),
        pytest.param(
            "pfsense",
            "<username>line1@isp.example</username>",
            "<username>line2@isp.example</username>",
            True,
            id="pfSense, another name for the provider",
        ),
        pytest.param(
            "opnsense",
            "<username>root@192.0.2.9</username>",
            "<username>root@192.0.2.7</username>",
            False,
            id="OPNsense, saved from elsewhere",
        ),
        pytest.param(
            "sonicwall_sshv2", "checksum 1187654321", "checksum 2187654321", False, id="SonicOS, checksum"
        ),
        pytest.param("extreme_ers", "! clock set 2026", "! clock set 2027", False, id="BOSS, the time"),
    ],
)
def test_what_moves_by_itself(platform: str, before: str, after: str, is_change: bool) -> None:
    key, found = b"k" * 32, _REGISTRY.get(platform)
    assert (normalise(before, found, key) != normalise(after, found, key)) is is_change
