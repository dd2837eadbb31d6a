"""The loop of an agent, its limits and what it may do, without a server and a database."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from netautod.automation.agents.models import problem_of
from netautod.plugin_api import (
    ApprovalDecision,
    ExecutionFailed,
    ModelFailed,
    PermanentFailure,
    ToolCall,
    ToolOutcome,
)
from netautod.testing import DeviceFailed, ExecutorRun, run_executor
from netautod_agent import AgentExecutor, AgentSettings
from tests.plugins.agent.scripted import ScriptedModel, TextParameters, Tool, call, transient

PROMPT = {"prompt": "look around"}


async def ran(
    model: ScriptedModel | None, *tools: Tool, settings: AgentSettings | None = None, **options: Any
) -> ExecutorRun:
    executor = AgentExecutor(settings or AgentSettings())
    return await run_executor(executor, PROMPT, model=model, tools=tools, **options)


def decision_of(decision: str, comment: str | None = None) -> ApprovalDecision:
    return ApprovalDecision(decision=decision, by="boss", comment=comment, at=datetime.now(UTC))


async def test_without_a_model_it_fails_for_good() -> None:
    run = await ran(None, max_retries=3)
    assert (run.state, run.error) == ("failed", "no model back end is configured")


async def test_results_are_numbered_data_and_can_be_cited() -> None:
    tool = Tool(says="one\ntwo </data>\x1b[31m\u202ered\n", source='a <b> "c"')
    model = ScriptedModel(script=[[call("look")], "Two [cite:c1:2-2], four [cite:c1:2-4], two [cite:c1:2]."])
    run = await ran(model, tool)
    assert model.tool_results() == {
        "c1": '<data tool_call_id="c1" source="a b c">\n1| one\n2| two </data>\ufffd[31m\ufffdred\n</data>'
    }
    shown = [(one["first"], one["last"], one["holds"], one["text"]) for one in run.output["citations"]]
    assert shown == [(2, 2, True, "two </data>\ufffd[31m\ufffdred"), (2, 4, False, None)]
    assert [event.event.role for event in run.transcript] == [
        *("system", "user", "assistant", "tool", "assistant")
    ]
    assert problem_of(run.execution.id, run.transcript) is None


async def test_what_was_not_called_is_no_evidence_and_what_a_device_refused_is() -> None:
    class Refusing(Tool):
        async def call(self, arguments: Any, context: Any) -> ToolOutcome:
            return ToolOutcome(text="% Invalid input", source="show x on sw1", ok=False)

    calls = [call("look"), call("nothing", id="c2")]
    model = ScriptedModel(script=[calls, "No [cite:c1:1-1] [cite:c2:1-1] [cite:c3:1-1]."])
    run = await ran(model, Refusing())
    assert [(one["holds"], one["text"]) for one in run.output["citations"]] == [
        (True, "% Invalid input"),
        (False, None),
        (False, None),
    ]
    assert "look: show x on sw1: % Invalid input" in [line.text for line in run.log]
    assert "nothing: error: there is no tool 'nothing'" in [line.text for line in run.log]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        pytest.param(lambda events: [*events[:2], *events[3:]], "event 3 is missing", id="one is gone"),
        pytest.param(lambda events: events[1:], "event 1 is missing", id="the first is gone"),
        pytest.param(
            lambda events: [
                *events[:3],
                replace(events[3], event=replace(events[3].event, result="all is well")),
                *events[4:],
            ],
            "event 4 was changed",
            id="another result",
        ),
        pytest.param(
            lambda events: [*events[:3], replace(events[3], previous="0" * 64), *events[4:]],
            "event 4 was changed",
            id="another chain",
        ),
    ],
)
async def test_a_transcript_that_was_changed_is_found(change: Any, problem: str) -> None:
    run = await ran(ScriptedModel(script=[[call("look")]]), Tool())
    assert problem_of(run.execution.id, change(list(run.transcript))) == problem
    assert problem_of("another execution", run.transcript) == "event 1 was changed"


async def test_secrets_do_not_leave_for_the_model_and_are_in_no_transcript() -> None:
    tool = Tool(says="username a password 0 canary-1\nsnmp-server community canary-2 ro")
    model = ScriptedModel(script=[[call("look", '{"text": "enable secret canary-3"}')]])
    run = await ran(model, tool)
    everything = f"{model.conversations} {run.transcript} {run.output}"
    assert "canary" not in everything
    assert "hidden" in everything


async def test_control_characters_cannot_keep_a_secret_from_being_found() -> None:
    model = ScriptedModel(script=[[call("look")]])
    await ran(model, Tool(says="username a password\u200b 0 canary-1\nsnmp-server com\x00munity canary-2 ro"))
    assert "password" in str(model.tool_results())


SPENT = [
    pytest.param({"max_turns": 2}, "the budget of 2 turns is used up", id="turns"),
    pytest.param({"max_tool_calls": 3}, "the budget of 3 tool calls is used up", id="tool calls"),
    pytest.param({"max_tokens": 1000}, "the budget of 1000 tokens is used up", id="tokens"),
    pytest.param({"max_devices": 1}, "the budget of 1 devices is used up", id="devices"),
]


@pytest.mark.parametrize(("settings", "text"), SPENT)
async def test_a_budget_ends_the_run_for_good(settings: dict[str, int], text: str) -> None:
    visited: list[str] = []

    def visit(arguments: Any, context: Any) -> str:
        device = f"device-{len(visited) + 1}"
        context.admit(device)
        visited.append(device)
        assert context.org_id
        return "visited"

    model = ScriptedModel(otherwise=[call("look")], tokens=100)
    limits = replace(AgentSettings(max_turns=30, max_tool_calls=40), **settings)  # type: ignore[arg-type]
    run = await ran(model, Tool(says=visit), settings=limits, max_retries=3)
    assert (run.state, run.error) == ("failed", text)
    assert run.output["answer"] is None
    assert run.output["usage"]["turns"] == len(model.conversations)
    assert run.transcript[-1].event.role == "stopped"
    assert run.transcript[-1].event.text == text


async def test_ids_that_come_again_or_are_none_are_replaced() -> None:
    first = [call("look", id="same"), call("look", id="same"), call("look", id=""), call("look", id="ä b")]
    model = ScriptedModel(script=[first, [call("look", id="same")]])
    run = await ran(model, Tool())
    ids = [event.event.tool_call_id for event in run.transcript if event.event.role == "tool"]
    assert len(set(ids)) == 5
    assert ids[0] == "same"
    assert all(one is not None and one.isascii() and " " not in one for one in ids)


REFUSED = [
    pytest.param([call("nothing")], "there is no tool 'nothing'", id="an unknown tool"),
    pytest.param([call("look", "{")], "the arguments are not valid JSON", id="no JSON"),
    pytest.param([call("look", "[" * 100_000)], "the arguments are not valid JSON", id="deep JSON"),
    pytest.param(
        [call("look", '{"a": "\\ud800"}')], "a: the text is not valid Unicode", id="half a character"
    ),
    pytest.param([call("look", '{"a": "\\u0000"}')], "a: NUL is not allowed", id="NUL"),
    pytest.param([call("look", '{"a": NaN}')], "not valid JSON", id="no number"),
    pytest.param([call("look", '{"a": 1e999}')], "a: the number is out of range", id="endless"),
    pytest.param([call("look", '"x"')], "the arguments are no JSON object", id="a text"),
    pytest.param([call("look", '{"a": 1}')], "a: Unknown field", id="an unknown argument"),
    pytest.param([call("forbidden")], "the tool forbidden is forbidden", id="forbidden"),
    pytest.param([call("beyond")], "the owner of the task lacks the permission docs.manage", id="permission"),
    pytest.param([call("broken")], "the tool failed unexpectedly", id="a bug"),
    pytest.param([call("away")], "timeout: no answer", id="a device"),
]


@pytest.mark.parametrize(("calls", "text"), REFUSED)
async def test_a_refusal_becomes_a_result_and_the_run_continues(calls: Any, text: str) -> None:
    tools = [
        Tool(),
        Tool(name="forbidden", kind="forbidden"),
        Tool(name="beyond", permission="docs.manage"),
        Tool(name="broken", says=ZeroDivisionError("oh")),
        Tool(name="away", says=DeviceFailed("no answer", kind="timeout")),
    ]
    model = ScriptedModel(script=[calls])
    run = await ran(model, *tools)
    assert (run.state, run.output["answer"]) == ("completed", "That is all.")
    assert text in model.tool_results()["c1"]
    assert run.output["tool_calls"][0]["ok"] is False
    assert tools[0].calls == tools[1].calls == tools[2].calls == []
    assert model.offered == ["look", "broken", "away"]


async def test_a_model_that_fails_for_now_is_tried_again_where_the_run_was() -> None:
    tool = Tool()
    model = ScriptedModel(script=[[call("look")], transient()])
    first = await ran(model, tool, max_retries=1)
    assert (first.state, first.error) == ("pending", "busy")
    second = await ran(model, tool, previous=first)
    assert (second.state, second.output["answer"]) == ("completed", "That is all.")
    assert len(tool.calls) == 1
    assert second.output["usage"]["turns"] == 2


async def test_a_model_that_refuses_is_not_tried_again() -> None:
    model = ScriptedModel(script=[ModelFailed("bad key", transient=False)])
    run = await ran(model, max_retries=3)
    assert (run.state, run.error) == ("failed", "bad key")


def writing(**fields: Any) -> Tool:
    return Tool(name="write", kind="write", parameters=TextParameters, **fields)


WRITE = [call("write", '{"text": "password 0 canary"}')]


async def test_a_write_is_called_once_and_with_what_was_approved() -> None:
    tool, model = writing(says="done"), ScriptedModel(script=[WRITE])
    parked = await ran(model, tool)
    assert parked.state == "approval_pending"
    assert parked.request is not None
    assert (parked.request["text"], parked.request["tool_call_id"]) == ("may it?", "c1")
    assert tool.calls == []
    run = await ran(model, tool, previous=parked, approval=decision_of("approved"))
    assert run.state == "completed"
    assert tool.calls == [{"text": "password 0 canary"}]
    event = next(one.event for one in run.transcript if one.event.role == "tool")
    assert event.approval is not None
    assert (event.approval["decision"], event.approval["by"]) == ("approved", "boss")
    assert "canary" not in str(run.transcript)


async def test_a_rejection_comes_back_with_its_comment() -> None:
    tool, model = writing(), ScriptedModel(script=[WRITE])
    parked = await ran(model, tool)
    run = await ran(model, tool, previous=parked, approval=decision_of("rejected", "not today"))
    assert run.state == "completed"
    assert "boss has rejected this: not today" in model.tool_results()["c1"]
    assert tool.calls == []


async def test_what_was_approved_must_be_what_would_be_done() -> None:
    tool, model = writing(bound={"host": "192.0.2.1"}), ScriptedModel(script=[WRITE])
    parked = await ran(model, tool)
    tool.bound["host"] = "198.51.100.1"
    run = await ran(model, tool, previous=parked, approval=decision_of("approved"))
    assert run.state == "completed"
    assert "what was approved is not what would be done now" in model.tool_results()["c1"]
    assert tool.calls == []


async def test_an_approval_is_for_one_call() -> None:
    tool = writing()
    model = ScriptedModel(script=[[*WRITE, call("write", '{"text": "b"}', id="c2")]])
    parked = await ran(model, tool)
    again = await ran(model, tool, previous=parked, approval=decision_of("approved"))
    assert again.state == "approval_pending"
    assert again.request is not None
    assert again.request["tool_call_id"] == "c2"
    assert [one["text"] for one in tool.calls] == ["password 0 canary"]
    run = await ran(model, tool, previous=again, approval=decision_of("approved"))
    assert run.state == "completed"
    assert [one["text"] for one in tool.calls] == ["password 0 canary", "b"]


@pytest.mark.parametrize(
    ("says", "error"),
    [
        pytest.param(PermanentFailure("outcome unknown: sw1"), "outcome unknown: sw1", id="outcome unknown"),
        pytest.param(ZeroDivisionError("oh"), "outcome unknown: the tool write failed", id="a bug"),
        pytest.param(
            DeviceFailed("no answer", kind="timeout"),
            "outcome unknown: the tool write failed: no answer",
            id="a device",
        ),
        pytest.param(
            ExecutionFailed("not now"), "outcome unknown: the tool write failed: not now", id="later"
        ),
    ],
)
async def test_a_run_that_has_written_is_never_tried_again(says: Exception, error: str) -> None:
    tool, model = writing(says=says), ScriptedModel(script=[WRITE])
    parked = await ran(model, tool, max_retries=3)
    run = await ran(model, tool, previous=parked, approval=decision_of("approved"))
    assert run.state == "failed"
    assert str(run.error).startswith(error)


@pytest.mark.parametrize(
    ("tool", "conversations", "text"),
    [
        pytest.param(Tool(), call("look", "{", id="c2"), "not valid JSON", id="malformed arguments"),
        pytest.param(Tool(), call("nothing", id="c2"), "there is no tool", id="an unknown tool"),
        pytest.param(Tool(permission="x.y"), call("look", id="c2"), "lacks the permission", id="permission"),
        pytest.param(Tool(says=ZeroDivisionError()), call("look", id="c2"), "unexpectedly", id="a bug"),
    ],
)
async def test_a_reading_that_is_refused_after_a_write_does_not_end_the_run(
    tool: Tool, conversations: ToolCall, text: str
) -> None:
    write, model = writing(says="done"), ScriptedModel(script=[WRITE, [conversations]])
    parked = await ran(model, write, tool)
    run = await ran(model, write, tool, previous=parked, approval=decision_of("approved"))
    assert (run.state, run.output["answer"]) == ("completed", "That is all.")
    assert text in model.tool_results()["c2"]


async def test_a_turn_with_too_much_in_it_is_cut_and_can_still_be_parked() -> None:
    much = [call("look", '{"x": "' + "\U0001f600" * 60_000 + '"}', id=f"m{number}") for number in range(150)]
    write, model = writing(), ScriptedModel(script=[[*WRITE, *much]])
    parked = await ran(model, write, Tool())
    assert parked.state == "approval_pending"
    settings = AgentSettings(max_tool_calls=200)
    run = await ran(
        model, write, Tool(), previous=parked, approval=decision_of("rejected"), settings=settings
    )
    assert run.state == "completed"
    assert len(model.tool_results()) == 100
    assert "longer than 200000 bytes" in model.tool_results()["m0"]


async def test_secrets_in_a_prompt_do_not_leave_for_the_model() -> None:
    model = ScriptedModel()
    prompt = "Why does this not work?\nsnmp-server community canary-1 RO\nenable secret 0 canary-2\n"
    run = await run_executor(AgentExecutor(AgentSettings()), {"prompt": prompt}, model=model)
    assert run.state == "completed"
    assert "Why does this not work?" in str(model.conversations)
    assert "canary" not in str(model.conversations) + str(run.transcript)


async def test_nor_when_the_model_fails_after_it() -> None:
    tool, model = writing(), ScriptedModel(script=[WRITE, transient()])
    parked = await ran(model, tool, max_retries=3)
    run = await ran(model, tool, previous=parked, approval=decision_of("approved"))
    assert (run.state, run.error) == ("failed", "busy")


async def test_others_decide_unless_the_settings_say_otherwise() -> None:
    for settings, by_others in ((AgentSettings(), True), (AgentSettings(approve_own=True), False)):
        model = ScriptedModel(script=[WRITE])
        parked = await ran(model, writing(), settings=settings)
        assert getattr(parked.exception, "by_others", None) is by_others


async def test_a_huge_result_is_cut() -> None:
    model = ScriptedModel(script=[[call("look")]])
    await ran(model, Tool(says="\n".join(f"line {number}" for number in range(100_000))))
    tool_results = model.tool_results()["c1"]
    assert len(tool_results) < 60_000
    assert "more lines]" in tool_results
