"""The outputs of devices of our own making, in the forms that their vendors document; by platform and
command.
"""

from collections.abc import Mapping
from typing import Any

from tests.plugins.cli.devices import aoscx, comware, eos, junos, nxos, procurve, routeros, vrp, xr

DEVICES: Mapping[str, Mapping[str, str]] = {
    "cisco_nxos": nxos.NXOS,
    "cisco_xr": xr.XR,
    "arista_eos": eos.EOS,
    "juniper_junos": junos.JUNOS,
    "hp_procurve": procurve.PROCURVE,
    "aruba_aoscx": aoscx.AOSCX,
    "hp_comware": comware.COMWARE,
    "huawei_vrp": vrp.VRP,
    "mikrotik_routeros": routeros.ROUTEROS,
}
# What there is to read on them: only fields that they tell; counters are octets, errors and discards, each
# in and out.
EXPECTED: Mapping[str, Mapping[str, list[dict[str, Any]]]] = {
    "cisco_nxos": nxos.ROWS,
    "cisco_xr": xr.ROWS,
    "arista_eos": eos.ROWS,
    "juniper_junos": junos.ROWS,
    "hp_procurve": procurve.ROWS,
    "aruba_aoscx": aoscx.ROWS,
    "hp_comware": comware.ROWS,
    "huawei_vrp": vrp.ROWS,
    "mikrotik_routeros": routeros.ROWS,
}
