"""Which fields of a device a poll fills."""

from dataclasses import replace
from typing import Any

import pytest

from netautod.network.discovery.polling.field_fill import filling
from netautod.plugin_api import DeviceFacts
from tests.network.discovery.visits.fakes import DEVICE

FACTS = DeviceFacts(
    vendor="Cisco", model="C9300-48P", serial_number="FOC1", os_version="17.9.4", device_type="cisco_ios"
)
ALL = {"manufacturer": "Cisco", "model": "C9300-48P", "serial_number": "FOC1"}
GENERIC = {"device_type": "generic"}


@pytest.mark.parametrize(
    ("device", "facts", "detect", "changes"),
    [
        pytest.param({}, FACTS, False, ALL, id="what is empty"),
        pytest.param({"model": ""}, FACTS, False, ALL, id="an empty text is empty"),
        pytest.param(
            {"manufacturer": "cisco", "serial_number": "X"},
            FACTS,
            False,
            {"model": "C9300-48P"},
            id="never what is set",
        ),
        pytest.param({}, None, True, {}, id="nothing is known"),
        pytest.param({}, DeviceFacts(vendor=" "), False, {}, id="a blank says nothing"),
        pytest.param({}, DeviceFacts(model="x" * 256), False, {}, id="longer than the field"),
        pytest.param(GENERIC, FACTS, True, {**ALL, "device_type": "cisco_ios"}, id="detect"),
        pytest.param(GENERIC, FACTS, False, ALL, id="not told to detect"),
        pytest.param({"device_type": "arista_eos"}, FACTS, True, ALL, id="detect, but it has a platform"),
        pytest.param(GENERIC, replace(FACTS, device_type="unheard_of"), True, ALL, id="no platform of ours"),
        pytest.param(GENERIC, replace(FACTS, device_type=None), True, ALL, id="not recognised"),
    ],
)
def test_filling(device: dict[str, Any], facts: DeviceFacts | None, detect: bool, changes: Any) -> None:
    known = {"cisco_ios", "arista_eos", "generic"}
    assert filling(replace(DEVICE, **device), facts, detect=detect, knows=known.__contains__) == changes
