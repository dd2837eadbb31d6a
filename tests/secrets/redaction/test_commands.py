"""The parts of a command line that are shown, by two lists of lines: with a secret, and without one."""

from pathlib import Path

from netautod.secrets.redaction.commands import shown_command
from tests.support.tables import over

DATA = Path(__file__).parents[2] / "data" / "commands"
QUOTINGS = (
    "zebra",
    "'zebra crossing'",
    '"zebra crossing"',
    r"zebra\ crossing",
    "$'zebra'",
    "z3bRa-zebra9",
    "-zebra",
)


def lines(name: str) -> list[str]:
    return [line for line in (DATA / name).read_text().splitlines() if line and not line.startswith("# ")]


@over("line", lines("secret.txt"))
def test_a_secret_is_hidden_in_every_quoting(line: str) -> None:
    for secret in QUOTINGS:
        if " " in secret and "§@" in line:
            continue  # no URL has a blank
        command = line.replace("§", secret)
        shown = shown_command(command)
        assert "zebra" not in shown
        assert "crossing" not in shown
        assert "<hidden>" in shown
        assert shown.split("<hidden>")[0] == command[: len(shown.split("<hidden>")[0])]


@over("line", lines("plain.txt"))
def test_what_holds_no_secret_is_shown_whole(line: str) -> None:
    assert shown_command(line) == line


@over(
    "secret",
    [
        "nat_0123456789abcdef",
        "nbt_abcdefgh.0123456789",
        "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
        "github_pat_11AAAAAAA0abcdef",
        "glpat-abcdefghij0123456789",
        "xoxb-123456789012-abcdef",
        "AKIAIOSFODNN7EXAMPLE",
        "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "hvs.CAESIJabcdefghijk",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0.abcdefgh",
        "$6$salt$0123456789abcdef",
        "$2y$10$abcdefghijklmnopqrstuv",
        "$argon2id$v=19$m=19456,t=2,p=1$abc$def",
        "5f4dcc3b5aa765d61d8327deb882cf99",
        "https://bob:a@b/c@192.0.2.1/f",
        "bob:hunter2@192.0.2.1:/f",
        "-----BEGIN OPENSSH PRIVATE KEY-----\\nabc",
    ],
)
@over("before", ["", "show run | include ", "ping ", "x="])
def test_what_looks_like_a_secret_is_hidden_anywhere(before: str, secret: str) -> None:
    shown = shown_command(before + secret)
    assert "<hidden>" in shown
    assert secret not in shown
