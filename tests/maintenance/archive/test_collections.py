"""Every collection of the product has one rule for backups, and no rule is for a collection that is gone."""

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from netautod.assembly.data.stores import INDEXES, SEALED_FIELDS
from netautod.maintenance.archive.collections import KEPT, LEFT_OUT, SETTLED, in_backup, strangers

ROOT = Path(__file__).parents[3]
RULES = (LEFT_OUT, SETTLED, KEPT)
# Calls that name a collection, and which of their arguments does.
NAMING = {"collection": 0, "scoped": 1, "Removal": 1, "SealedField": 0, "Index": 0, "RefusedLogins": 1}


def collections_of_the_code() -> Iterator[str]:
    """What stores ask the database for; arguments that are names of functions' own are somebody else's."""
    for path in sorted((ROOT / "netautod").rglob("*.py")):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        tree = ast.parse(path.read_text(encoding="utf-8"))
        asked = [argument for node in ast.walk(tree) for argument in named_by(node)]
        if asked and not path.is_relative_to(ROOT / "netautod" / "testing"):
            module = importlib.import_module(name)
            yield from (found for argument in asked for found in value_of(argument, module))


def named_by(node: ast.AST) -> Iterator[ast.expr]:
    if not isinstance(node, ast.Call):
        return
    called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    place = NAMING.get(called)
    if place is None:
        return
    yield from node.args[place : place + 1]
    yield from (keyword.value for keyword in node.keywords if keyword.arg == "collection")


def value_of(argument: ast.expr, module: ModuleType) -> Iterator[str]:
    if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
        yield argument.value
    elif isinstance(argument, ast.Name) and isinstance(getattr(module, argument.id, None), str):
        yield getattr(module, argument.id)
    elif isinstance(argument, ast.Attribute) and isinstance(argument.value, ast.Name):
        found = getattr(getattr(module, argument.value.id, None), argument.attr, None)
        if isinstance(found, str):
            yield found


def test_every_collection_of_the_product_has_a_rule() -> None:
    declared = {index.collection for index in INDEXES} | {field.collection for field in SEALED_FIELDS}
    found = set(collections_of_the_code()) | declared
    assert {"leases", "vault_keys", "vault_progress", "upgrades", "snapshot_configs"} <= found
    ruled = [name for rules in RULES for name in rules]
    assert sorted(found) == sorted(ruled)


def test_every_rule_has_its_reason() -> None:
    assert [name for rules in RULES for name, why in rules.items() if len(why) < 10] == []


@pytest.mark.parametrize(
    ("found", "kept", "unknown"),
    [
        pytest.param({"users", "leases", "devices"}, ["devices", "users"], [], id="of the product"),
        pytest.param(
            {"of_an_older_version"}, ["of_an_older_version"], ["of_an_older_version"], id="stranger"
        ),
        pytest.param({"unfinished_restores", "nodes", "refresh_tokens"}, [], [], id="of the moment"),
    ],
)
def test_what_a_backup_has(found: set[str], kept: list[str], unknown: list[str]) -> None:
    assert in_backup(found) == kept
    assert strangers(found) == unknown
