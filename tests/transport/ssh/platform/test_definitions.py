"""Platform definitions: what ships, how names resolve, and that a faulty file is refused with a sentence."""

from pathlib import Path

import pytest

from netautod.core.errors import InvalidInput
from netautod.transport.ssh.platform.registry import PlatformRegistry

_MINIMAL = """
name = "acme_os"
aliases = ["acme"]
channel = "shell"
sources = ["a made-up vendor"]
[prompts]
exec = '(?P<host>\\w+)>$'
[capture]
items = [{ command = "show config" }]
"""


@pytest.mark.parametrize(
    ("device_type", "name"),
    [
        pytest.param("cisco_ios", "cisco_ios", id="its own name"),
        pytest.param("cisco_xe", "cisco_ios", id="an alias"),
        pytest.param("linux", "linux", id="linux"),
        pytest.param("cisco_xe", "cisco_ios", id="IOS-XE"),
        pytest.param("cisco_nxos_ssh", "cisco_nxos", id="Netmiko's name with _ssh"),
        pytest.param("iosxr", "cisco_xr", id="NAPALM's iosxr"),
        pytest.param("asa", "cisco_asa", id="Oxidized's asa"),
        pytest.param("eos", "arista_eos", id="NAPALM's eos"),
        pytest.param("junos", "juniper_junos", id="NAPALM's junos"),
        pytest.param("paloalto", "paloalto_panos", id="paloalto"),
        pytest.param("fortinet_fortios", "fortinet", id="the NetBox name of FortiOS"),
        pytest.param("nokia_sros_md", "nokia_sros", id="the MD-CLI of SR OS"),
        pytest.param("alcatel_sros", "nokia_sros", id="Netmiko's former name of SR OS"),
        pytest.param("dellos10", "dell_os10", id="Ansible's dellos10"),
        pytest.param("some_unheard_os", "generic", id="an unknown type falls back to generic"),
    ],
)
def test_device_types_resolve(platforms: PlatformRegistry, device_type: str, name: str) -> None:
    assert platforms.get(device_type).name == name


def test_every_shipped_platform_cites_its_sources_and_reads_something(platforms: PlatformRegistry) -> None:
    for name in platforms.names():
        platform = platforms.get(name)
        assert platform.sources, name
        assert platform.capture, name
        assert platform.channel == "exec" or platform.prompts, name


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        pytest.param("sw1#", ("privileged", "sw1"), id="privileged"),
        pytest.param("sw1>", ("exec", "sw1"), id="unprivileged"),
        pytest.param("sw1(config-if)#", ("config", "sw1"), id="config mode"),
        pytest.param("rtr-01.example.net# ", ("privileged", "rtr-01.example.net"), id="dots and a blank"),
        pytest.param("x" * 200 + "#", ("privileged", "x" * 200), id="200 characters"),
        pytest.param("### no entry ###", None, id="a line of a banner"),
        pytest.param("Router uptime is #", None, id="text with blanks"),
        pytest.param("sw1#show", None, id="an echoed command"),
    ],
)
def test_prompts_of_ios(platforms: PlatformRegistry, line: str, expected: tuple[str, str] | None) -> None:
    assert platforms.get("cisco_ios").mode_of(line) == expected


@pytest.mark.parametrize(
    ("platform", "line", "expected"),
    [
        pytest.param("cisco_nxos", "leaf1# ", ("privileged", "leaf1"), id="NX-OS"),
        pytest.param("cisco_xr", "RP/0/RSP0/CPU0:edge1#", ("privileged", "edge1"), id="XR"),
        pytest.param("cisco_xr", "RP/0/RP0/CPU0:edge1(config-if)#", ("config", "edge1"), id="XR, config"),
        pytest.param("cisco_asa", "fw1/admin/pri/act# ", ("privileged", "fw1/admin/pri/act"), id="ASA"),
        pytest.param("cisco_asa", "fw1(config)# ", ("config", "fw1"), id="ASA, config"),
        pytest.param("arista_eos", "core(s1)#", ("privileged", "core(s1)"), id="EOS, a supervisor"),
        pytest.param("arista_eos", "core(s1)(config)#", ("config", "core(s1)"), id="EOS, config"),
        pytest.param("juniper_junos", "root@pe1> ", ("privileged", "root@pe1"), id="Junos"),
        pytest.param("juniper_junos", "admin@pe1# ", ("config", "admin@pe1"), id="Junos, config"),
        pytest.param("juniper_junos", "root@pe1:~ # ", None, id="the shell of a Junos"),
        pytest.param("paloalto_panos", "admin@PA-VM(active)> ", ("privileged", "admin@PA-VM"), id="PAN-OS"),
        pytest.param("fortinet", "fw1 # ", ("privileged", "fw1"), id="FortiOS"),
        pytest.param("fortinet", "fw1 $ ", ("privileged", "fw1"), id="FortiOS, a reader"),
        pytest.param("fortinet", "fw1 (interface) # ", ("config", "fw1"), id="FortiOS, config"),
        pytest.param("nokia_sros", "*A:pe1# ", ("privileged", "pe1"), id="SR OS, unsaved changes"),
        pytest.param("nokia_sros", "A:admin@pe1# ", ("privileged", "admin@pe1"), id="SR OS, MD-CLI"),
        pytest.param("nokia_sros", "A:pe1>config>router# ", ("config", "pe1"), id="SR OS, config"),
        pytest.param("dell_os10", "OS10# ", ("privileged", "OS10"), id="OS10"),
    ],
)
def test_prompts_of_the_others(
    platforms: PlatformRegistry, platform: str, line: str, expected: tuple[str, str] | None
) -> None:
    assert platforms.get(platform).mode_of(line) == expected


@pytest.mark.parametrize(
    ("platform", "one", "other", "same"),
    [
        pytest.param("nokia_sros", "*A:pe1# ", "A:pe1# ", True, id="a star for unsaved changes"),
        pytest.param("paloalto_panos", "a@PA(active)> ", "a@PA(passive)> ", True, id="the HA state"),
        pytest.param("nokia_sros", "A:pe1# ", "A:pe2# ", False, id="another host"),
        pytest.param("cisco_ios", "sw1#", "sw1>", False, id="another mode"),
    ],
)
def test_what_moves_in_a_prompt(
    platforms: PlatformRegistry, platform: str, one: str, other: str, same: bool
) -> None:
    known = platforms.get(platform)
    assert (known.steady(one) == known.steady(other)) is same


@pytest.mark.parametrize(
    "line",
    [
        "*Mar  1 18:46:11.485: %SYS-5-CONFIG_I: Configured from console by vty2 (10.34.195.36)",
        "18:47:02: %SYS-5-CONFIG_I: Configured from console by vty2 (10.34.195.36)",
        "*Mar  1 18:48:50.483 UTC: %SYS-5-CONFIG_I: Configured from console by vty2",
        "00:00:46: %LINK-3-UPDOWN: Interface Port-channel1, changed state to up",
        "000123: Nov 21 06:44:12: %LINEPROTO-5-UPDOWN: Line protocol on Interface Vlan1",
        "2w3d: %LINK-3-UPDOWN: Interface Vlan1, changed state to down",
    ],
)
def test_log_lines_of_ios(platforms: PlatformRegistry, line: str) -> None:
    assert platforms.get("cisco_ios").is_log_line(line)


def test_a_config_line_is_no_log_line(platforms: PlatformRegistry) -> None:
    assert not platforms.get("cisco_ios").is_log_line("ip address 10.0.0.1 255.255.255.0")


def _file(folder: Path, text: str) -> Path:
    path = folder / "acme_os.toml"
    path.write_text(text)
    return path


def test_a_third_party_adds_a_platform_with_one_file(tmp_path: Path) -> None:
    registry = PlatformRegistry()
    registry.register(_file(tmp_path, _MINIMAL))
    assert registry.get("acme") is registry.get("acme_os")
    assert registry.get("acme").capture[0].command == "show config"


def test_a_plugins_platform_changes_kinds_in_its_own_registry_only(tmp_path: Path) -> None:
    text = _MINIMAL.replace("[capture]\n", "[capture]\nown = ['^acme ']\n")
    registry, other = PlatformRegistry(), PlatformRegistry()
    registry.register(_file(tmp_path, text))
    assert {"acme_os", "cisco_ios"} <= registry.get("eltex").kinds.keys() == registry.get("acme").kinds.keys()
    assert "acme_os" not in other.get("eltex").kinds
    assert "acme_os" not in PlatformRegistry().get("eltex").kinds
    assert other.get("eltex") is PlatformRegistry().get("eltex")  # what ships is read once
    registry.register(_file(tmp_path, text.replace("^acme ", "^now ")), override=True)
    assert [pattern.pattern for pattern in registry.get("eltex").kinds["acme_os"]] == ["^now "]


def test_a_taken_name_is_refused_unless_it_is_an_override(tmp_path: Path) -> None:
    registry = PlatformRegistry()
    path = _file(tmp_path, _MINIMAL.replace('"acme_os"', '"linux"').replace('"acme"', '"debian"'))
    with pytest.raises(InvalidInput, match="'linux' is taken"):
        registry.register(path)
    registry.register(path, override=True)
    assert registry.get("debian").capture[0].command == "show config"
    assert registry.get("ubuntu").name == "generic"  # an alias that the override does not repeat is gone


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        pytest.param('name = "acme_os"', "", r"acme_os.toml: name is missing", id="no name"),
        pytest.param('"acme_os"', '"Acme OS"', r"a-z, 0-9 and _", id="a bad name"),
        pytest.param('"shell"', '"telnet"', r"channel must be one of shell, exec", id="a bad channel"),
        pytest.param('["a made-up vendor"]', "[]", r"sources must not be empty", id="no source"),
        pytest.param("\\w+)>$", "\\w+>$", r"exec is not a regular expression", id="a broken pattern"),
        pytest.param("(?P<host>\\w+)", "\\w+", r"exec needs the group", id="a prompt without host"),
        pytest.param("[capture]", "[capture]\nend = 'x'", r"unknown key 'end'", id="an unknown key"),
        pytest.param(
            "[capture]",
            "[login]\npassword_prompt = 'x'\nprompt = 'y'\n[capture]",
            r"unknown key 'prompt'",
            id="an unknown key of the login",
        ),
        pytest.param(
            "[capture]",
            "[login]\nuser_prompt = 'x'\n[capture]",
            "password_prompt is missing",
            id="a login without a password",
        ),
        pytest.param("[capture]", "[typo]\nx = 1\n[capture]", r"unknown key 'typo'", id="an unknown table"),
        pytest.param('command = "show config"', "command = 7", r"must be a string", id="a wrong type"),
        pytest.param('command = "show config"', 'file = "/etc/x"', r"exec channel only", id="no exec"),
        pytest.param('{ command = "show config" }', "{ }", r"command or a file", id="an item without either"),
        pytest.param("[prompts]", "[prompts", r"acme_os.toml: ", id="not TOML"),
        pytest.param(
            "[capture]", "[noise]\nlines = ['a', '(?i)b']\n[capture]", r"do not combine", id="a global flag"
        ),
        pytest.param(
            '{ command = "show config" }',
            '{ command = "a", alternatives = "b" }',
            r"alternatives must be an array",
            id="one alternative as text",
        ),
        pytest.param(
            "[capture]",
            "[[parts]]\nname = 'Show Inventory'\ncommand = 'show inventory'\n[capture]",
            r"\[parts 1\]: name must consist of a-z",
            id="a part whose name is no part of an address",
        ),
        pytest.param(
            "[capture]",
            "[[parts]]\nname = 'a'\ncommand = 'x'\n[[parts]]\nname = 'a'\ncommand = 'y'\n[capture]",
            r"two \[\[parts\]\] have the same name",
            id="two parts of one name",
        ),
    ],
)
def test_a_faulty_file_is_refused(tmp_path: Path, old: str, new: str, complaint: str) -> None:
    assert old in _MINIMAL
    with pytest.raises(InvalidInput, match=complaint):
        PlatformRegistry().register(_file(tmp_path, _MINIMAL.replace(old, new)))


def test_an_absent_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"no_such.toml: No such file"):
        PlatformRegistry().register(tmp_path / "no_such.toml")
