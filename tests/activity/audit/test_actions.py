"""Every action that the code records is in the table of actions, which the manual shows."""

import ast
import re
from collections.abc import Iterator

from netautod.activity.audit.actions import ACTIONS
from netautod.core.identity.permissions import KNOWN_PERMISSIONS
from tests.support.manual import ROOT

RECORDING = ("record", "record_many", "record_for")
FORM = re.compile(r"[a-z_]+\.[a-z_]+")
RESOURCES = {action.partition(".")[0] for action in ACTIONS}
# Built of a resource and a word.
COMPOSED = {"execution.", "inventory_source.", "webhook."}


def trees() -> Iterator[ast.Module]:
    """Yield the modules that may record events."""
    for folder in ("netautod", "plugins"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            if "audit" in text and path.name != "actions.py":
                yield ast.parse(text)


def texts(node: ast.AST) -> set[str]:
    return {
        one.value for one in ast.walk(node) if isinstance(one, ast.Constant) and isinstance(one.value, str)
    }


def recorded(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield the action of each call that records an event."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in RECORDING
        ):
            yield from node.args[1:2]
            yield from (keyword.value for keyword in node.keywords if keyword.arg == "action")


TREES = list(trees())
WRITTEN = {text for tree in TREES for text in texts(tree)}


def test_an_action_that_a_call_names_is_in_the_table() -> None:
    named = {text for tree in TREES for action in recorded(tree) for text in texts(action)}
    assert len(named) > 60
    assert {text for text in named if FORM.fullmatch(text)} - ACTIONS.keys() == set()
    assert {text for text in named if text.endswith(".")} == COMPOSED


def test_a_text_in_the_form_of_an_action_is_in_the_table() -> None:
    """Check the actions that calls take from variables."""
    formed = {text for text in WRITTEN if FORM.fullmatch(text) and text.partition(".")[0] in RESOURCES}
    assert formed - ACTIONS.keys() - set(KNOWN_PERMISSIONS) == set()


def test_an_action_of_the_table_is_recorded() -> None:
    composed = {action for action in ACTIONS if action.startswith(tuple(COMPOSED))}
    assert ACTIONS.keys() - WRITTEN - composed == set()


def test_the_table_is_in_order() -> None:
    assert list(ACTIONS) == sorted(ACTIONS)
