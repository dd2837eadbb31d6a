"""The back end for OpenAI-compatible models: what it sends, what it understands, when it tries again."""

import json
from typing import Any

import pytest

from netautod.plugin_api import (
    ModelFailed,
    ModelMessage,
    ModelReply,
    SettingsError,
    ToolCall,
    ToolDescription,
)
from netautod.transport.outbound.addresses import AddressRules
from netautod.transport.outbound.client import GuardedClient
from netautod_agent import AgentSettings, ChatCompletions
from netautod_agent.wire import CUT
from tests.support.servers.model_server import Broken, ModelServer, Status, model_server

TOOLS = [ToolDescription(name="look", description="Looks.", parameters={"type": "object"})]
HELLO = [ModelMessage(role="user", text="hello")]


class Sleeps(list[float]):
    async def __call__(self, seconds: float) -> None:
        self.append(seconds)


async def conversation(
    model: ModelServer, sleeps: Sleeps, messages: list[ModelMessage] | None = None
) -> ModelReply:
    settings = AgentSettings(base_url=model.url, model="m1", api_key="key-1", timeout_seconds=5)
    http = GuardedClient(AddressRules.allowing(["127.0.0.1"]))
    return await ChatCompletions(settings, sleep=sleeps).complete(messages or HELLO, TOOLS, http)


def body(message: Any, **more: Any) -> Status:
    answer = {"choices": [{"message": message, **more.pop("choice", {})}], **more}
    return Status(200, body=json.dumps(answer).encode())


CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
UNDERSTOOD = [
    pytest.param(body({"content": "hi"}), "hi", [], id="a text"),
    pytest.param(
        body({"content": [{"type": "text", "text": "h"}, {"type": "x"}, {"text": "i"}]}), "hi", [], id="parts"
    ),
    pytest.param(body({"content": None, "tool_calls": [CALL]}), "", [("c1", "look", "{}")], id="a call"),
    pytest.param(
        body({"content": "so", "tool_calls": [CALL]}), "so", [("c1", "look", "{}")], id="a text and a call"
    ),
    pytest.param(
        body({"tool_calls": [{"function": {"name": "look", "arguments": {"a": 1}}}]}),
        "",
        [("", "look", '{"a": 1}')],
        id="arguments as an object, no id",
    ),
    pytest.param(
        body({"content": "cut"}, choice={"finish_reason": "length"}), f"cut{CUT}", [], id="a cut answer"
    ),
    pytest.param(body({"content": "hi"}, usage="none"), "hi", [], id="a usage that is none"),
]


@pytest.mark.parametrize(("answer", "text", "calls"), UNDERSTOOD)
async def test_what_is_understood(answer: Status, text: str, calls: list[Any]) -> None:
    async with model_server(answer) as model:
        reply = await conversation(model, Sleeps())
    assert reply.text == text
    assert [(one.id, one.name, one.arguments) for one in reply.tool_calls] == calls
    assert reply.input_tokens > 0
    assert reply.output_tokens > 0


async def test_what_is_sent() -> None:
    messages = [
        ModelMessage(role="system", text="be good"),
        ModelMessage(
            role="assistant",
            text="",
            tool_calls=[
                ToolCall(id="c1", name="look", arguments='{"a": 1}'),
                ToolCall(id="c2", name="look", arguments="{broken"),
            ],
        ),
        ModelMessage(role="tool", text="seen", tool_call_id="c1"),
    ]
    async with model_server("fine") as model:
        await conversation(model, Sleeps(), messages)
    [sent] = model.requests
    assert model.keys == ["Bearer key-1"]
    assert sent["model"] == "m1"
    assert sent["tools"] == [
        {
            "type": "function",
            "function": {"name": "look", "description": "Looks.", "parameters": {"type": "object"}},
        }
    ]
    assert sent["messages"][0] == {"role": "system", "content": "be good"}
    arguments = [one["function"]["arguments"] for one in sent["messages"][1]["tool_calls"]]
    assert arguments == ['{"a": 1}', "{}"]
    assert sent["messages"][2] == {"role": "tool", "content": "seen", "tool_call_id": "c1"}


@pytest.mark.parametrize(
    ("answers", "waits"),
    [
        pytest.param([Status(429, {"Retry-After": "7"})], [7.0], id="asks for a pause"),
        pytest.param([Status(429, {"Retry-After": "86400"})], [60.0], id="a day is too long"),
        pytest.param(
            [Status(503, {"Retry-After": "Fri, 31 Dec 2100 23:59:59 GMT"})], [60.0], id="until a date"
        ),
        pytest.param(
            [Status(503, {"Retry-After": "Fri, 31 Dec 1999 23:59:59 GMT"})], [1.0], id="until a date that was"
        ),
        pytest.param([Status(429, {"Retry-After": "soon"})], [1.0], id="a pause that is no number"),
        pytest.param([Status(500), Status(502), Status(503)], [1.0, 2.0, 4.0], id="overloaded"),
        pytest.param([Broken()], [1.0], id="a broken connection"),
        pytest.param([Status(200, body=b"<html>")], [1.0], id="no JSON"),
        pytest.param([Status(200, body=b'{"choices": []}')], [1.0], id="no choice"),
        pytest.param([Status(200, body=b'{"choices": [{"message": {"content": ""}}]}')], [1.0], id="silence"),
        pytest.param([Status(200, body=b"[1]")], [1.0], id="a list"),
    ],
)
async def test_what_is_tried_again(answers: list[Any], waits: list[float]) -> None:
    sleeps = Sleeps()
    async with model_server(*answers, "at last") as model:
        assert (await conversation(model, sleeps)).text == "at last"
    assert sleeps == waits


@pytest.mark.parametrize(
    ("answer", "text", "transient"),
    [
        pytest.param(Status(500), "answered 500: not now (5 tries)", True, id="down for good"),
        pytest.param(
            Status(401, body=b'{"error": "no key-1"}'), "answered 401: no <hidden>", False, id="a refused key"
        ),
        pytest.param(Status(404, body=b"nothing"), "answered 404", False, id="no such model"),
        pytest.param(Status(302, {"Location": "http://127.0.0.2/"}), "redirect", False, id="a redirect"),
    ],
)
async def test_what_ends_it(answer: Status, text: str, transient: bool) -> None:
    async with model_server() as model:
        model.otherwise = answer
        with pytest.raises(ModelFailed) as failed:
            await conversation(model, Sleeps())
    assert text in failed.value.text
    assert failed.value.transient is transient
    assert "key-1" not in failed.value.text


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        pytest.param({"base_url": "ftp://x"}, "agent.base_url", id="no http"),
        pytest.param({"base_url": "http://x/v1?a=1", "model": "m"}, "agent.base_url", id="a query"),
        pytest.param({"base_url": "http://x/v1"}, "agent.model", id="no model"),
        pytest.param(
            {"base_url": "http://x", "model": "m", "api_key": "a", "api_key_file": "/b"},
            "agent.api_key and agent.api_key_file",
            id="two keys",
        ),
        pytest.param(
            {"base_url": "http://x", "model": "m", "api_key_file": "/nowhere/key"},
            "agent.api_key_file: No such file",
            id="no file",
        ),
        pytest.param({"base_url": "http://x", "model": "m", "api_key": "ä"}, "agent.api_key", id="no ASCII"),
    ],
)
def test_settings_that_are_refused(fields: dict[str, Any], text: str) -> None:
    with pytest.raises(SettingsError, match=text):
        AgentSettings(**fields).check()
