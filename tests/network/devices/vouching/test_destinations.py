"""What speaks for the devices of a way, in the order in which they are logged in to."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from netautod.core.identity.caller import OrgId
from netautod.network.devices.creation.single import new_device
from netautod.network.devices.models import Device
from netautod.network.devices.vouching.destinations import destinations, is_same

START = datetime(2026, 1, 1, tzinfo=UTC)
FIELDS = {"name": "sw", "host": "192.0.2.1", "device_type": "generic"}


def device(word: str) -> Device:
    """`v`: vouched for, `p`: with a pinned key, `-`: neither."""
    made = new_device(OrgId("org"), "id", FIELDS, site=None, source="manual", vouched="v" in word, at=START)
    return replace(made, host_key_fingerprint="SHA256:x" if "p" in word else None)


@pytest.mark.parametrize(
    ("way", "vouched", "pinning"),
    [
        pytest.param(["v"], "y", "y", id="a device that is vouched for"),
        pytest.param(["-"], "n", "n", id="one that is not"),
        pytest.param(["p"], "y", "n", id="one that its pinned key stands for"),
        pytest.param(["v", "v"], "yy", "yy", id="behind a jump device that is vouched for"),
        pytest.param(["-", "v"], "nn", "nn", id="behind one that is not"),
        pytest.param(["p", "v"], "yy", "ny", id="behind one whose pinned key answers"),
        pytest.param(["-", "vp"], "ny", "nn", id="a pinned key behind any jump device"),
        pytest.param(["-", "v", "v"], "nnn", "nnn", id="behind two of which the first is not"),
        pytest.param(["v", "-", "v"], "ynn", "ynn", id="behind two of which the second is not"),
        pytest.param(["-", "p", "v"], "nyn", "nnn", id="nothing but its own key speaks for what is behind"),
    ],
)
def test_what_speaks_for_each(way: list[str], vouched: str, pinning: str) -> None:
    found = destinations([device(word) for word in way])
    assert "".join("ny"[each.vouched] for each in found) == vouched
    assert "".join("ny"[each.may_be_pinned] for each in found) == pinning
    assert found[0].way_vouched


def test_a_device_that_was_edited_is_not_the_same() -> None:
    before = device("v")
    pinned = device("vp")
    assert is_same(before, before)
    assert is_same(before, pinned)
    assert not is_same(pinned, before)
    changes: list[dict[str, Any]] = [
        {"host": "192.0.2.2"},
        {"port": 1},
        {"jump_device_id": "x"},
        {"vouched": False},
    ]
    for change in changes:
        assert not is_same(before, replace(before, **change))
