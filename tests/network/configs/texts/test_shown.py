"""Redacted texts that are kept: shown as they would be redacted anew, in bounded memory."""

import threading
from uuid import uuid4

import pytest

from netautod.core.identity.caller import OrgId
from netautod.network.configs.texts import redacted_cache as shown_texts
from netautod.network.configs.texts.redacted_cache import ShownTexts
from netautod.network.configs.texts.shown_measure import measured_as_shown
from netautod.transport.ssh.platform.redact import redact
from netautod.transport.ssh.platform.registry import PlatformRegistry

READERS = PlatformRegistry().for_readers
ORG, OTHER_ORG = OrgId(str(uuid4())), OrgId(str(uuid4()))
TEXT = "hostname core\nenable secret 5 $1$abcd$0123456789abcdefghijkl\nend\n"


@pytest.fixture
def redactions(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that were redacted."""
    done: list[str] = []

    def counting(text: str, *arguments: object) -> str:
        done.append(text)
        return redact(text, *arguments)  # type: ignore[arg-type]  # handed on

    monkeypatch.setattr(shown_texts, "redact", counting)
    return done


async def test_a_text_is_redacted_once_for_a_device_of_its_organization(redactions: list[str]) -> None:
    shown = ShownTexts(READERS)
    owners = ((ORG, "d1"), (ORG, "d1"), (OTHER_ORG, "d1"), (ORG, "d2"))
    found = {await shown.of(*owner, "id", TEXT) for owner in owners}
    assert found == {redact(TEXT, READERS)}
    assert "$1$abcd" not in found.pop()
    assert redactions == [TEXT] * 3


@pytest.mark.parametrize(("lines", "in_loop"), [(1, True), (2000, False)])
async def test_a_large_text_is_hashed_beside_the_event_loop(
    monkeypatch: pytest.MonkeyPatch, lines: int, in_loop: bool
) -> None:
    threads = []

    def measured(text: str, key: bytes) -> tuple[str, int]:
        threads.append(threading.current_thread())
        return measured_as_shown(text, key)

    monkeypatch.setattr(shown_texts, "measured_as_shown", measured)
    form = await ShownTexts(READERS).form(TEXT * lines, b"key")
    assert (form.config_hash, form.size) == measured_as_shown(redact(TEXT * lines, READERS), b"key")
    assert [thread is threading.current_thread() for thread in threads] == [in_loop]


async def test_the_ones_used_last_are_kept(redactions: list[str]) -> None:
    shown = ShownTexts(READERS, most=30)
    for text_id in ("a", "b", "a", "c", "a", "b"):
        await shown.of(ORG, "d", text_id, f"hostname {text_id}\n")
    assert redactions == [f"hostname {name}\n" for name in ("a", "b", "c", "b")]


async def test_what_is_larger_than_all_that_is_kept_is_not_kept(redactions: list[str]) -> None:
    shown = ShownTexts(READERS, most=10)
    for _ in range(2):
        assert await shown.of(ORG, "d", "id", "hostname switch-1\n") == "hostname switch-1\n"
    assert len(redactions) == 2
