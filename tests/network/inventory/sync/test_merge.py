"""What a device takes over from an inventory, and what of it is left alone."""

from typing import Any

import pytest

from netautod.network.devices.bindings.models import KnownDevice
from netautod.network.inventory.sync.desired import DesiredDevice
from netautod.network.inventory.sync.plan import make_plan
from tests.network.inventory.sync.devices import bound, facts, local, remote

RICH = remote(1, "a", description="core", site="Bonn", model="C9300", tags=("x", "y"), metadata={"rack": 1})
GAVE = bound(1, gave=("description", "model", "site"), tags=("x", "y"), metadata_keys=("rack",))
SAME: dict[str, Any] = {
    "description": "core",
    "site": "Bonn",
    "model": "C9300",
    "tags": ("x", "y"),
    "metadata": {"rack": 1},
}


@pytest.mark.parametrize(
    ("known", "wanted", "values"),
    [
        pytest.param(local("d", "a", "192.0.2.1", GAVE, **SAME), RICH, {}, id="all the same"),
        pytest.param(
            local("d", "a", "192.0.2.1", GAVE, **{**SAME, "description": "mine"}),
            RICH,
            {"description": "core"},
            id="the inventory decides about a text that it has",
        ),
        pytest.param(
            local("d", "a", "192.0.2.1", GAVE, **SAME),
            remote(1, "a", site="Bonn", model="C9300", tags=("x", "y"), metadata={"rack": 1}),
            {"description": None},
            id="a text that was cleared there is cleared",
        ),
        pytest.param(
            local("d", "a", "192.0.2.1", GAVE, **{**SAME, "asset_tag": "A-17"}),
            RICH,
            {},
            id="a text that the inventory never had stays",
        ),
        pytest.param(
            local("d", "a", "192.0.2.1", GAVE, **{**SAME, "tags": ("mine", "x", "y")}),
            remote(
                1,
                "a",
                **{**{k: SAME[k] for k in ("description", "site", "model", "metadata")}, "tags": ("y", "z")},
            ),
            {"tags": ("mine", "y", "z")},
            id="tags of the inventory follow it, tags added here stay",
        ),
        pytest.param(
            local("d", "a", "192.0.2.1", GAVE, **{**SAME, "metadata": {"rack": 1, "owner": "me"}}),
            remote(
                1,
                "a",
                **{**{k: SAME[k] for k in ("description", "site", "model", "tags")}, "metadata": {"row": 2}},
            ),
            {"metadata": {"owner": "me", "row": 2}},
            id="metadata likewise",
        ),
        pytest.param(
            local("d", "a", "192.0.2.1", GAVE, **{**SAME, "site": "Berlin", "site_id": "s"}),
            RICH,
            {},
            id="a managed site stays",
        ),
        pytest.param(
            local("d", "a", "192.0.2.1", GAVE, **{**SAME, "device_type": "arista_eos"}),
            remote(1, "a", **{**SAME, "device_type": "generic"}),
            {},
            id="generic replaces no known type",
        ),
        pytest.param(
            local("d", "a", "192.0.2.1", GAVE, **{**SAME, "device_type": "arista_eos"}),
            RICH,
            {"device_type": "cisco_ios"},
            id="another type does",
        ),
        pytest.param(
            local("m", "a", "192.0.2.1", tags=("x",), description="mine"),
            remote(1, "a", tags=("x", "y")),
            {"tags": ("x", "y"), "inventory_id": 1, "source": "inventory"},
            id="what is adopted keeps its texts",
        ),
    ],
)
def test_what_a_device_takes_over(known: KnownDevice, wanted: DesiredDevice, values: dict[str, Any]) -> None:
    plan = make_plan([known], [wanted], facts([wanted]))
    written = [write.values for write in (*plan.updates, *plan.adopts)]
    assert written == ([values] if values else [])
    assert plan.refused == []


def test_a_tag_that_was_here_before_the_inventory_had_it_stays_when_it_goes_there() -> None:
    first = make_plan(
        [local("m", "a", "192.0.2.1", tags=("x",))],
        [remote(1, "a", tags=("x", "y"))],
        facts([remote(1, "a")]),
    ).adopts[0]
    assert first.bindings is not None
    after = local("m", "a", "192.0.2.1", *first.bindings, tags=first.values["tags"])
    second = make_plan([after], [remote(1, "a")], facts([remote(1, "a")]))
    assert [write.values for write in second.updates] == [{"tags": ("x",)}]
