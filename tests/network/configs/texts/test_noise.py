"""What moves by itself makes no version, on any platform, and what somebody edits is never taken for that.

tests/data/noise: `moving.tsv` has lines of one platform as two readings show them (an empty second one: it
is there or not), `everywhere.tsv` forms that are noise on each, `edits.tsv` lines before and after an edit.
"""

from pathlib import Path

from netautod.network.configs.texts.normalise import normalise
from netautod.transport.ssh.platform.model import Platform
from netautod.transport.ssh.platform.registry import PlatformRegistry
from tests.support.tables import over

_REGISTRY = PlatformRegistry()
_FOLDER = Path(__file__).parents[3] / "data" / "noise"
_KEY = b"k" * 32


def rows(name: str) -> list[list[str]]:
    return [line.split("\t") for line in (_FOLDER / name).read_text(encoding="utf-8").split("\n")[:-1]]


def are_one(platform: Platform, one: str, other: str) -> bool:
    """Whether two readings that differ in this line only are the same configuration."""
    texts = ("".join(f"{line}\n" for line in ("router r1", middle, "end") if line) for middle in (one, other))
    first, second = (normalise(text, platform, _KEY) for text in texts)
    return first == second


@over(("name", "one", "other"), rows("moving.tsv"))
def test_what_moves_by_itself_is_no_change(name: str, one: str, other: str) -> None:
    assert are_one(_REGISTRY.get(name), one, other)


@over("name", _REGISTRY.names())
def test_clocks_and_uptimes_are_no_change(name: str) -> None:
    platform = _REGISTRY.get(name)
    assert [one for one, other in rows("everywhere.tsv") if not are_one(platform, one, other)] == []


@over("name", _REGISTRY.names())
def test_an_edit_is_a_change(name: str) -> None:
    platform = _REGISTRY.get(name)
    assert [one for one, other in rows("edits.tsv") if are_one(platform, one, other)] == []
