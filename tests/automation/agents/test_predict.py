"""The expected effect of lines on a configuration."""

from difflib import unified_diff

import pytest

from netautod.automation.agents.changes.prediction import predicted

CONFIG = """\
hostname sw1
!
interface Vlan10
 description users
 ip address 192.0.2.1 255.255.255.0
 no shutdown
!
interface Vlan20
 description voice
!
router bgp 65000
 neighbor 192.0.2.2 remote-as 65001
!
ntp server 192.0.2.9
ntp server 192.0.2.10
end"""
ROWS = [
    pytest.param(["ntp server 192.0.2.11"], ["+ntp server 192.0.2.11"], id="behind its like"),
    pytest.param(["no ntp server 192.0.2.9"], ["-ntp server 192.0.2.9"], id="taken out"),
    pytest.param(["hostname sw2"], ["-hostname sw1", "+hostname sw2"], id="replaced"),
    pytest.param(["hostname sw1"], [], id="there already"),
    pytest.param(
        ["interface Vlan20", "description phones"],
        ["- description voice", "+ description phones"],
        id="in a section, not indented",
    ),
    pytest.param(
        ["interface Vlan20", " description phones", "ntp server 192.0.2.11"],
        ["- description voice", "+ description phones", "+ntp server 192.0.2.11"],
        id="out of a section by the indentation",
    ),
    pytest.param(
        ["interface Vlan20", "mtu 9000", "exit", "hostname sw2"],
        ["-hostname sw1", "+hostname sw2", "+ mtu 9000"],
        id="out of a section by exit",
    ),
    pytest.param(
        ["interface Vlan30", "description new"],
        ["+interface Vlan30", "+ description new"],
        id="a new section",
    ),
    pytest.param(
        ["no interface Vlan20"], ["-interface Vlan20", "- description voice"], id="a section taken out"
    ),
    pytest.param(
        ["interface Vlan10", "no ip address"],
        ["- ip address 192.0.2.1 255.255.255.0"],
        id="taken out by its beginning",
    ),
    pytest.param(
        ["interface Vlan10", "no description", "interface Vlan20", "no description"],
        ["- description users", "- description voice"],
        id="two sections",
    ),
]


@pytest.mark.parametrize(("lines", "changes"), ROWS)
def test_what_would_change(lines: list[str], changes: list[str]) -> None:
    after = predicted(CONFIG, lines, negation="no")
    found = [
        line
        for line in unified_diff(CONFIG.split("\n"), after.split("\n"), lineterm="", n=0)
        if not line.startswith(("---", "+++", "@@"))
    ]
    assert found == changes


@pytest.mark.parametrize("config", ["", "\n", CONFIG, " odd\n  deeper\nback", "#\ninterface A\n undo x\n#\n"])
def test_no_line_changes_nothing(config: str) -> None:
    assert predicted(config, [], negation="undo") == config
