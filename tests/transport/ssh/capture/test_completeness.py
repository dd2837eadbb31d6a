"""The check of what is stored as a configuration: no refusal of any vendor, no part of one, but each small or
odd one.
"""

from pathlib import Path

import pytest

from netautod.transport.ssh.capture.completeness import check_output, require_whole
from netautod.transport.ssh.failures import DeviceFailed
from netautod.transport.ssh.platform.model import Platform
from netautod.transport.ssh.platform.registry import PlatformRegistry
from tests.support.platform_fixtures import load
from tests.support.tables import over

_REGISTRY = PlatformRegistry()
_FILE = Path(__file__).parents[3] / "data" / "refusals.tsv"
_ROWS = [
    (platform, output.replace("\\n", "\n"), kind)
    for platform, output, kind in (
        line.split("\t") for line in _FILE.read_text(encoding="utf-8").rstrip("\n").split("\n")
    )
]
_REFUSED = [(platform, output) for platform, output, kind in _ROWS if kind != "stored"]
_STORED = [(platform, output) for platform, output, kind in _ROWS if kind == "stored"]
_SHELLS = [name for name in sorted(_REGISTRY.names()) if _REGISTRY.get(name).channel == "shell"]
_MARKED = [name for name in _SHELLS if _REGISTRY.get(name).end_marker is not None]


def _texts(name: str) -> list[tuple[str, str]]:
    """Return the texts of a file of several, each behind the line that says what it is."""
    texts = (_FILE.parent / name).read_text(encoding="utf-8").split("%%\n")
    return [(head, text) for head, _, text in (text.partition("\n") for text in texts)]


_NO_CONFIG = _texts("no_config.txt")
_SMALL = [pytest.param(head.split()[0], text, id=head) for head, text in _texts("small_configs.txt")]
# What passes on these too: a Firepower runs the software of the ASA, FS sells switches of Ruijie, both kinds
# of ZTE print one head, and FASTPATH runs in switches of Dell and Ubiquiti as well as in those of Netgear.
_PASS_TOO = {
    "cisco_asa": {"cisco_ftd"},
    "cisco_ftd": {"cisco_asa"},
    "dell_powerconnect": {"dell_os6"},
    "fs_os": {"ruijie_os"},
    "netgear_prosafe": {"dell_os6", "ubiquiti_edgeswitch"},
    "ruijie_os": {"fs_os"},
    "zte_olt": {"zte_zxros"},
    "zte_zxros": {"zte_olt"},
}
# Of the first nothing is known; the other is a set of files, of which no line is Linux's alone. On both
# everything passes, and what they read passes wherever it has the lines that must be in it.
_WITHOUT_A_KIND = {"generic", "linux"}
# `end` closes every block of FortiOS, so that a cut behind one does not show.
_CUTS_UNSEEN = {"fortinet"}


def require(text: str, platform: Platform) -> None:
    """Check a text as a capture of one command does."""
    check_output(text.split("\n"), text.split("\n"), "the reading", platform)
    require_whole([text], platform)


def kind_of(text: str, platform: Platform) -> str | None:
    try:
        require(text, platform)
    except DeviceFailed as exc:
        return exc.kind
    return None


def test_there_are_rows_of_every_shell() -> None:
    assert len(_REFUSED) >= 200
    assert set(_SHELLS) - {platform for platform, _ in _REFUSED} == set()


@over(("platform", "output"), _REFUSED)
def test_a_refusal_is_known_for_one_on_its_platform(platform: str, output: str) -> None:
    assert kind_of(output + "\n", _REGISTRY.get(platform)) == "refused_command"


@over("platform", _SHELLS)
def test_no_refusal_of_any_vendor_is_stored(platform: str) -> None:
    known = _REGISTRY.get(platform)
    stored = [output for _, output in _REFUSED if kind_of(output + "\n", known) is None]
    assert stored == []


@over(("platform", "output"), _STORED)
def test_a_small_configuration_that_quotes_such_words_is_stored(platform: str, output: str) -> None:
    require(output + "\n", _REGISTRY.get(platform))


@over("platform", sorted({platform for platform, _ in _REFUSED} & set(_SHELLS)))
def test_a_configuration_may_quote_the_refusals_of_its_platform(platform: str) -> None:
    """Accept refusals as lines of a banner and in descriptions."""
    if (
        platform == "generic"
    ):  # of whose configurations nothing is known; the rows that are stored are its own
        return
    quotes = [line for name, output in _REFUSED if name == platform for line in output.split("\n")]
    lines = load(platform).first.split("\n")
    middle = len(lines) // 2
    quoted = [*quotes, *(f" description {line.strip()}" for line in quotes)]
    require("\n".join([*lines[:middle], *quoted, *lines[middle:]]), _REGISTRY.get(platform))


@over("platform", _SHELLS)
def test_a_refusal_that_is_repeated_or_long_is_not_stored(platform: str) -> None:
    known = _REGISTRY.get(platform)
    for text in ("Unknown command", "Unknown command\n" * 6, f"Unknown command {'x' * 81}"):
        assert kind_of(text, known) is not None


@over("platform", _MARKED)
def test_a_configuration_that_was_cut_is_not_stored(platform: str) -> None:
    if platform in _CUTS_UNSEEN:
        return
    known = _REGISTRY.get(platform)
    lines = load(platform).first.split("\n")
    for quarter in (1, 2, 3):
        cut = "\n".join(lines[: len(lines) * quarter // 4])
        assert kind_of(cut, known) is not None, f"{quarter} quarters"
    # Without its first half, the end is there.
    assert kind_of("\n".join(lines[-3:]), known) is not None


@over("text", [pytest.param(text, id=what) for what, text in _NO_CONFIG])
def test_what_is_no_configuration_at_all_is_not_stored(text: str) -> None:
    """Refuse it on all platforms but `generic`, which knows nothing of configurations."""
    known = (_REGISTRY.get(name) for name in _SHELLS if name != "generic")
    assert [platform.name for platform in known if kind_of(text, platform) is None] == []


@pytest.fixture(scope="module")
def configurations() -> dict[str, str]:
    return {name: load(name).first for name in _REGISTRY.names()}


@over("name", sorted(set(_SHELLS) - _WITHOUT_A_KIND))
def test_the_configuration_of_another_platform_is_not_stored(
    name: str, configurations: dict[str, str]
) -> None:
    alike = {name, *_WITHOUT_A_KIND, *_PASS_TOO.get(name, ())}
    others = [text for other, text in configurations.items() if other not in alike]
    assert [text[:80] for text in others if kind_of(text, _REGISTRY.get(name)) is None] == []


def test_every_platform_says_by_which_lines_it_is_known(configurations: dict[str, str]) -> None:
    known = [platform for name in configurations if (platform := _REGISTRY.get(name)).own]
    assert set(configurations) - {platform.name for platform in known} == _WITHOUT_A_KIND
    unknown = [platform.name for platform in known if not platform.is_own(configurations[platform.name])]
    assert unknown == []


@over(("name", "text"), _SMALL)
def test_a_small_configuration_is_stored_whatever_its_banner_quotes(
    name: str, text: str, configurations: dict[str, str]
) -> None:
    """Accept the configurations of new devices and of releases that lack what the platform is known by; each
    alone, and with a line of another kind in it.
    """
    require(text, _REGISTRY.get(name))
    *lines, last = text.rstrip().split("\n")
    others = sorted(set(configurations) - _WITHOUT_A_KIND - {name})
    for other in others[len(text) % 6 :: 6]:  # of all the texts together, each is quoted in many
        quoted = next(filter(_REGISTRY.get(other).is_own, configurations[other].split("\n")), "")
        require("\n".join([*lines, quoted, last]), _REGISTRY.get(name))


def test_two_lines_or_the_head_of_another_kind_are_no_quotes() -> None:
    """Refuse only these on a platform without a line of its own kind."""
    eltex, ports = _REGISTRY.get("eltex"), "hostname sw1\n!\n" + "interface gi1\n!\n" * 9
    other = ["interface port1.0.1", "interface port1.0.2"]
    require("\n".join([ports, *other[:1], "end"]), eltex)
    for text in ("\n".join([ports, *other, "end"]), "\n".join([*other[:1], ports, "end"])):
        with pytest.raises(DeviceFailed, match="a configuration of allied_telesis_awplus: set the"):
            require(text, eltex)


def test_a_configuration_without_any_line_of_a_kind_is_stored() -> None:
    """Accept it: an unknown release may lack the lines by which its platform is known."""
    require("hostname sw1\n!\ninterface vlan 1\n ip address dhcp\n!\n" * 4, _REGISTRY.get("eltex"))


def test_another_kind_is_named() -> None:
    text = load("raisecom_roap").first
    with pytest.raises(DeviceFailed, match="a configuration of raisecom_roap: set the device type"):
        require(text, _REGISTRY.get("calix_axos"))
