"""Every known form of a line: what is a secret is hidden on every platform, and nothing else is."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from netautod.secrets.redaction.patterns import HIDDEN
from netautod.transport.ssh.platform.redact import redact
from netautod.transport.ssh.platform.registry import PlatformRegistry
from tests.support.tables import over

DATA = Path(__file__).parents[2] / "data" / "redaction"
# As devices show them: typed ones, Cisco type 7, crypt(5), Junos $9$, hexadecimal, Base64.
FORMS = (
    "zebra9x",
    "02050D480809zebra",
    "$9$zebra/9tIcrK",
    "$6$salt$zebra0123456789",
    "0zebraff00ff00ff00ff00ff",
    "U2FsdGVkzebra+x/9=",
    "-AQ==zebra+x9b=",
    "zebra01ab==",
)
IN_WORDS = ("Zebra-Password1", "SecretZebra", "zebraCommunity")


@pytest.fixture(scope="module")
def registry() -> PlatformRegistry:
    return PlatformRegistry()


def rows(*names: str) -> Iterator[str]:
    for name in names:
        lines = (DATA / name).read_text(encoding="utf-8").splitlines()
        yield from (line for line in lines if line and not line.startswith("# "))


FILES = ("cisco.txt", "others.txt", "vendors.txt", "appliances.txt")
SECRET = [line for line in rows(*FILES) if "§" in line]
MUCH_HIDDEN = list(rows("much_hidden.txt"))
PLAIN = [line for line in rows(*FILES, "harmless.txt") if "§" not in line]


@over("line", [*SECRET, *MUCH_HIDDEN])
def test_a_secret_is_hidden_in_every_form(registry: PlatformRegistry, line: str) -> None:
    for form in (*FORMS, *IN_WORDS):
        if "/" in form and "§@" in line:
            continue  # no URL has it there
        written = line.replace("§", form)
        for platform in (registry.get("generic"), registry.for_readers):
            shown = redact(written, platform)
            assert "zebra" not in shown.lower(), shown
            assert HIDDEN in shown


@over("line", SECRET)
def test_the_words_before_a_secret_stay(registry: PlatformRegistry, line: str) -> None:
    shown = redact(line.replace("§", "zebra9x"), registry.get("generic"))
    assert shown.startswith(line.split("§")[0].rstrip("\"' "))


@over("line", SECRET)
def test_neither_case_nor_blanks_nor_a_comment_show_a_secret(registry: PlatformRegistry, line: str) -> None:
    before, _, behind = line.partition("§")
    for written in (
        f"{before.upper()}zebra9x{behind}",
        f"    {before}zebra9x{behind}\r",
        f"{before.replace(' ', '  ')}zebra9x{behind}",
        f"{before}zebra9x{behind} ! of 2020",
    ):
        assert "zebra" not in redact(written, registry.get("generic")), written


@over("line", PLAIN)
def test_what_is_no_secret_stays(registry: PlatformRegistry, line: str) -> None:
    for platform in (registry.get("generic"), registry.for_readers):
        assert redact(line, platform) == line
