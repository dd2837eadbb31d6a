"""Lines as the command references of Cisco and of those who write like it show them."""

from pathlib import Path

import pytest

from netautod.secrets.redaction.patterns import HIDDEN
from netautod.transport.ssh.platform.redact import redact
from netautod.transport.ssh.platform.registry import PlatformRegistry

DATA = Path(__file__).parents[2] / "data" / "redaction"
OWN = {
    "cisco_ios.txt": ("cisco_ios",),
    "data_center.txt": ("cisco_nxos", "arista_eos", "frr", "cumulus", "dell_sonic", "dell_os10"),
    "cisco_edge.txt": ("cisco_xr", "cisco_asa", "cisco_ftd", "cisco_wlc", "cisco_s300", "cisco_viptela"),
}
FORMS = (
    "zebra9x",
    "zebra",
    "U2FsdGVkzebra+x/9=",
    "Zebra-Password1",
    "key-zebra",
    "SHAzebra1",
    "zebra!x",
    "zebräzebra",
)


@pytest.fixture(scope="module")
def registry() -> PlatformRegistry:
    return PlatformRegistry()


def rows(name: str) -> list[str]:
    lines = (DATA / name).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("# ")]


@pytest.mark.parametrize("name", OWN)
def test_no_form_of_a_secret_is_shown(registry: PlatformRegistry, name: str) -> None:
    for platform in map(registry.get, ("generic", *OWN[name])):
        for line in rows(name):
            forms = [form for form in FORMS if "/" not in form or "§@" not in line]
            shown = [redact(line.replace("§", form), platform) for form in forms]
            assert [text for text in shown if "zebra" in text.lower()] == []


@pytest.mark.parametrize("name", OWN)
def test_all_but_the_secret_stays(registry: PlatformRegistry, name: str) -> None:
    for line in rows(name):
        shown = redact(line.replace("§", "zebra9x"), registry.get("generic"))
        assert shown.startswith(line.split("§")[0].rstrip("\"' "))
        assert HIDDEN in shown


@pytest.mark.parametrize("prefix", ["no ", "default ", "\t", "    "])
@pytest.mark.parametrize("name", OWN)
def test_what_stands_before_the_line_shows_no_secret(
    registry: PlatformRegistry, name: str, prefix: str
) -> None:
    platform = registry.get("generic")
    shown = [redact(prefix + line.lstrip().replace("§", "zebra9x"), platform) for line in rows(name)]
    assert [text for text in shown if "zebra" in text] == []


@pytest.mark.parametrize("name", ["generic", *sorted({own for owns in OWN.values() for own in owns})])
def test_what_is_no_secret_stays(registry: PlatformRegistry, name: str) -> None:
    changed = [line for line in rows("harmless_cisco.txt") if redact(line, registry.get(name)) != line]
    assert changed == []
