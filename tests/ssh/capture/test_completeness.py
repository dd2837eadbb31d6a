"""What is stored as a configuration: no refusal of any vendor, no part of one, but each small or odd one."""

from pathlib import Path

import pytest

from netautod.ssh.capture.completeness import check_output, require_whole
from netautod.ssh.failures import DeviceFailed
from netautod.ssh.platform.model import Platform
from netautod.ssh.platform.registry import PlatformRegistry
from tests.support.platform_fixtures import load

_REGISTRY = PlatformRegistry()
_FILE = Path(__file__).parents[2] / "data" / "refusals.tsv"
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
_NO_CONFIG = [
    text.partition("\n")[::2]
    for text in (_FILE.parent / "no_config.txt").read_text(encoding="utf-8").split("%%\n")
]
# Configurations of these have words in common, so that one may pass for another's.
_FAMILIES = (
    {"dell_os6", "netgear_prosafe", "ubiquiti_edgeswitch"},
    {"juniper_junos", "netscaler", "ubiquiti_edgeos", "vyos"},
    {"hp_comware", "huawei_olt", "huawei_vrp"},
    {"cisco_asa", "cisco_ftd"},
)
# What these have in each configuration stands in those of many others, too.
_WITHOUT_A_HEAD = {
    *(
        "adtran_os",
        "alcatel_aos",
        "allied_telesis_awplus",
        "arista_eos",
        "aruba_os",
        "brocade_nos",
        "calix_axos",
    ),
    *(
        "calix_b6",
        "casa_cmts",
        "ciena_saos",
        "cisco_ios",
        "cisco_nxos",
        "cisco_s300",
        "cisco_wlc",
        "cisco_xr",
    ),
    *("dell_powerconnect", "dell_sonic", "dlink_ds", "eltex", "eltex_esr", "frr", "fs_os", "generic"),
    *("hp_procurve", "rad_etx", "raisecom_roap", "ruijie_os", "supermicro_smis", "tplink_jetstream"),
    *("zte_olt", "zte_zxros", "zyxel_os"),
}
# `end` closes every block of FortiOS, so that a cut behind one does not show.
_CUTS_UNSEEN = {"fortinet"}


def require(text: str, platform: Platform) -> None:
    """As a capture of one command does it."""
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


@pytest.mark.parametrize(("platform", "output"), _REFUSED)
def test_a_refusal_is_known_for_one_on_its_platform(platform: str, output: str) -> None:
    assert kind_of(output + "\n", _REGISTRY.get(platform)) == "refused_command"


@pytest.mark.parametrize("platform", _SHELLS)
def test_no_refusal_of_any_vendor_is_stored(platform: str) -> None:
    known = _REGISTRY.get(platform)
    stored = [output for _, output in _REFUSED if kind_of(output + "\n", known) is None]
    assert stored == []


@pytest.mark.parametrize(("platform", "output"), _STORED)
def test_a_small_configuration_that_quotes_such_words_is_stored(platform: str, output: str) -> None:
    require(output + "\n", _REGISTRY.get(platform))


@pytest.mark.parametrize("platform", _SHELLS)
def test_a_refusal_that_is_repeated_or_long_is_not_stored(platform: str) -> None:
    known = _REGISTRY.get(platform)
    for text in ("Unknown command", "Unknown command\n" * 6, f"Unknown command {'x' * 81}"):
        assert kind_of(text, known) is not None


@pytest.mark.parametrize("platform", _MARKED)
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


@pytest.mark.parametrize("text", [pytest.param(text, id=what) for what, text in _NO_CONFIG])
def test_what_is_no_configuration_at_all_is_not_stored(text: str) -> None:
    """On no platform but `generic`, which knows of none what it has."""
    known = (_REGISTRY.get(name) for name in _SHELLS if name != "generic")
    assert [platform.name for platform in known if kind_of(text, platform) is None] == []


@pytest.fixture(scope="module")
def configurations() -> dict[str, str]:
    return {name: load(name).first for name in _REGISTRY.names()}


@pytest.mark.parametrize("name", sorted(set(_SHELLS) - _WITHOUT_A_HEAD))
def test_the_configuration_of_another_platform_is_not_stored(
    name: str, configurations: dict[str, str]
) -> None:
    alike = next((family for family in _FAMILIES if name in family), {name})
    others = [text for other, text in configurations.items() if other not in alike]
    assert [text[:80] for text in others if kind_of(text, _REGISTRY.get(name)) is None] == []
