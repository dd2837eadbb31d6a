"""Packed texts: what goes in comes out, small, and for ever."""

import hashlib
from importlib.resources import files

import pytest

from netautod.network.configs.texts.packing import packed, quickly_packed, unpacked
from netautod.testing import ios_config

# Of every dictionary that was ever released: texts that were packed with it need it as it was.
RELEASED = {"1.txt": "f2c9927ca79e95a59e4b60eaf6788fba0ba7214e60e997f533063cfd902ccfff"}


def test_no_released_dictionary_is_missing_or_changed() -> None:
    folder = files("netautod.network.configs.texts").joinpath("dictionaries")
    found = {entry.name: hashlib.sha256(entry.read_bytes()).hexdigest() for entry in folder.iterdir()}
    assert found == RELEASED


@pytest.mark.parametrize("text", ["", "a", "Grüße\n" * 1000, ios_config("sw1")])
def test_a_text_comes_out_as_it_went_in(text: str) -> None:
    assert unpacked(packed(text)) == unpacked(quickly_packed(text)) == text


@pytest.mark.parametrize(("interfaces", "part"), [(1, 0.3), (24, 0.2), (200, 0.1)])
def test_a_text_takes_a_small_part_of_its_size(interfaces: int, part: float) -> None:
    text = ios_config("core-7", interfaces, community="pr1vate")
    assert len(packed(text)) < len(text) * part
