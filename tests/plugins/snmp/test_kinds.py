"""The texts of sysDescr of many vendors, and which platform, version and model each means."""

import csv
from pathlib import Path

import pytest

from netautod_snmp.identity import described
from netautod_snmp.kinds import kind_of
from netautod_snmp.vendors import VENDORS, enterprise_of

with (Path(__file__).parent / "descriptions.csv").open(newline="") as file:
    # Enterprise, platform, version, model, sysDescr.
    LINES = [
        pytest.param(
            int(enterprise), descr, (kind, version or None, model or None), id=f"{kind}, {descr[:40]}"
        )
        for enterprise, kind, version, model, descr in csv.reader(file, delimiter=";")
    ]


@pytest.mark.parametrize(("enterprise", "descr", "expected"), LINES)
def test_a_platform(enterprise: int, descr: str, expected: tuple[str, str | None, str | None]) -> None:
    kind = kind_of(enterprise, descr)
    assert kind is not None
    assert (kind.device_type, described(kind, descr, "version"), described(kind, descr, "model")) == expected


@pytest.mark.parametrize(
    ("object_id", "vendor"),
    [
        pytest.param("1.3.6.1.4.1.9.1.1208", "Cisco", id="a product of Cisco"),
        pytest.param(".1.3.6.1.4.1.2011.2.23.291", "Huawei", id="with a dot in front"),
        pytest.param("1.3.6.1.4.1.99999", None, id="an unknown enterprise"),
        pytest.param("1.3.6.1.2.1", None, id="of no enterprise"),
        pytest.param("1.3.6.1.4.1", None, id="cut off"),
        pytest.param(None, None, id="none"),
    ],
)
def test_a_vendor(object_id: str | None, vendor: str | None) -> None:
    assert VENDORS.get(enterprise_of(object_id) or 0) == vendor
