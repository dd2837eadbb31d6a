"""The parameters that a run gets: loaded by the schema from the stored ones, which stay as they are."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from marshmallow import INCLUDE, Schema, fields, post_load, pre_load

from netautod.automation.tasks.parameters import SchemaRules, loaded
from netautod.core.errors import InvalidInput
from netautod.core.identity.caller import Caller, OrgId
from netautod.plugin_api import ExecutionFailed, RunContext
from netautod.testing import run_executor
from tests.support.execution import Does, World, task

STORED = {
    "since": "2026-11-21T06:44:12Z",
    "credential_id": "5b0f6f0e-3f0b-4a53-9d1c-52f0a4c1e6a0",
    "note": [1],
}
CALLER = Caller(user_id="u", org_id=OrgId("o"), username="ann", permissions=frozenset({"*"}))


class Converting(Schema):
    class Meta:
        unknown = INCLUDE

    since = fields.AwareDateTime()
    credential_id = fields.UUID()
    count = fields.Integer(load_default=7)


class Making(Converting):
    @post_load
    def made(self, data: dict[str, Any], **_: Any) -> Any:
        return tuple(sorted(data))


class Mutating(Converting):
    @pre_load
    def spoiled(self, data: dict[str, Any], **_: Any) -> dict[str, Any]:
        data["note"].append("spoiled")
        data.pop("since")
        return data


class Failing(Converting):
    @pre_load
    def fails(self, data: dict[str, Any], **_: Any) -> dict[str, Any]:
        raise KeyError("no such thing")


class Leaving(Converting):
    @pre_load
    def leaves(self, data: dict[str, Any], **_: Any) -> dict[str, Any]:
        raise SystemExit("bye")


class Unmade(Converting):
    def __init__(self, **options: Any) -> None:
        raise OSError("no file of defaults")


class Stricter(Schema):
    since = fields.AwareDateTime(required=True)
    site = fields.String(required=True)


CONVERTED = {
    "since": datetime(2026, 11, 21, 6, 44, 12, tzinfo=UTC),
    "credential_id": UUID(STORED["credential_id"]),  # type: ignore[arg-type]
    "count": 7,
    "note": [1],
}
GIVEN = [
    pytest.param(Converting, CONVERTED, id="defaults and converted values"),
    pytest.param(Making, ("count", "credential_id", "note", "since"), id="what a post_load makes"),
    pytest.param(None, STORED, id="without a schema what is stored"),
]


def executor(schema: type[Schema] | None, seen: list[Any], *, fails: int = 0) -> Does:
    async def work(context: RunContext) -> Any:
        seen.append(context.parameters)
        if len(seen) <= fails:
            raise ExecutionFailed("no answer")
        return len(seen)

    made = Does(work)
    made.parameters_schema = schema  # type: ignore[misc]
    return made


@pytest.mark.parametrize(("schema", "given"), GIVEN)
async def test_a_run_gets_what_the_schema_returns(world: World, schema: Any, given: Any) -> None:
    seen: list[Any] = []
    execution = await world.run(task(parameters=STORED, max_retries=1))
    async with world.node(executor(schema, seen, fails=1)):
        done = await world.until(execution, "completed")
    assert seen == [given, given]
    assert done.parameters == STORED


@pytest.mark.parametrize(("schema", "given"), GIVEN)
async def test_a_run_without_a_server_gets_the_same(schema: Any, given: Any) -> None:
    seen: list[Any] = []
    assert (await run_executor(executor(schema, seen), STORED)).state == "completed"
    assert seen == [given]


@pytest.mark.parametrize(
    ("schema", "error"),
    [
        pytest.param(Stricter, "'site': ['Missing data for required field.']", id="they no longer fit"),
        pytest.param(Failing, "parameters: the plugin's schema failed on them", id="the schema raises"),
        pytest.param(Leaving, "parameters: the plugin's schema failed on them", id="the schema exits"),
    ],
)
async def test_parameters_that_cannot_be_loaded_fail_the_run_without_a_retry(
    world: World, schema: Any, error: str
) -> None:
    seen: list[Any] = []
    execution = await world.run(task(parameters=STORED, max_retries=3))
    async with world.node(executor(schema, seen)):
        done = await world.until(execution, "failed")
    assert error in str(done.error_message)
    assert (done.retry_count, seen) == (0, [])


def test_a_schema_changes_nothing_but_its_copy() -> None:
    stored = {**STORED, "note": [1]}
    assert loaded(Mutating, stored)["note"] == [1, "spoiled"]
    assert stored == STORED


@pytest.mark.parametrize(
    ("schema", "error"),
    [
        pytest.param(Stricter, r"^parameters\.", id="they do not fit"),
        pytest.param(Failing, "the plugin's schema failed", id="the schema raises"),
        pytest.param(Leaving, "the plugin's schema failed", id="the schema exits"),
        pytest.param(Unmade, "the plugin's schema failed", id="the schema cannot be made"),
    ],
)
async def test_parameters_that_an_executor_gets(schema: Any, error: str) -> None:
    rules = SchemaRules(schemas={"ask": schema, "keep": Mutating}, references={})
    with pytest.raises(InvalidInput, match=error):
        await rules.check(CALLER, "ask", dict(STORED), {})
    assert await rules.check(CALLER, "keep", {**STORED, "note": [1]}, {}) == STORED
