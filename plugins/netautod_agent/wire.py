"""Chat completions as OpenAI's API reference describes them, and as its many imitations write them."""

import json
from collections.abc import Sequence
from typing import Any

from netautod.plugin_api import ModelFailed, ModelMessage, ModelReply, ToolCall, ToolDescription

CHARACTERS_PER_TOKEN = 4  # roughly, in English; for servers that do not count tokens
CUT = "\n[cut: the model reached the length of its answers]"


def request_of(model: str, messages: Sequence[ModelMessage], tools: Sequence[ToolDescription]) -> bytes:
    body: dict[str, Any] = {"model": model, "messages": [_message(one) for one in messages]}
    if tools:
        body["tools"] = [_tool(one) for one in tools]
    return json.dumps(body).encode()


def reply_of(answer: Any, *, model: str, sent: int) -> ModelReply:
    """Parse a reply.

    `sent`: bytes of the request. Raises ModelFailed for an answer that is no chat completion.
    """
    try:
        choice = answer["choices"][0]
        message = choice["message"]
        text = _text(message.get("content"))
        calls = [_call(one) for one in message.get("tool_calls") or ()]
        cut = choice.get("finish_reason") == "length"
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise ModelFailed("the model's answer is no chat completion", transient=True) from error
    if not calls and not text.strip():
        raise ModelFailed("the model answered nothing", transient=True)
    usage = answer.get("usage")
    return ModelReply(
        text=text + CUT if cut and not calls else text,
        tool_calls=calls,
        model=name if isinstance(name := answer.get("model"), str) and name else model,
        input_tokens=_count(usage, "prompt_tokens") or sent // CHARACTERS_PER_TOKEN,
        output_tokens=_count(usage, "completion_tokens") or 1 + _length(text, calls) // CHARACTERS_PER_TOKEN,
    )


def _message(one: ModelMessage) -> dict[str, Any]:
    made: dict[str, Any] = {"role": one.role, "content": one.text}
    if one.tool_calls:
        made["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": _object(call.arguments)},
            }
            for call in one.tool_calls
        ]
    if one.tool_call_id is not None:
        made["tool_call_id"] = one.tool_call_id
    return made


def _object(arguments: str) -> str:
    """Return the arguments, or `{}`: servers refuse a conversation whose arguments are no JSON."""
    try:
        return arguments if isinstance(json.loads(arguments), dict) else "{}"
    except (ValueError, RecursionError):
        return "{}"


def _tool(one: ToolDescription) -> dict[str, Any]:
    described = {"name": one.name, "description": one.description, "parameters": dict(one.parameters)}
    return {"type": "function", "function": described}


def _text(content: Any) -> str:
    """Return a text, or the joined texts of a list of parts."""
    if isinstance(content, list):
        return "".join(_text(part.get("text")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _call(one: Any) -> ToolCall:
    function = one["function"]
    arguments = function.get("arguments")
    if not isinstance(arguments, str):  # some servers answer the object itself
        arguments = "" if arguments is None else json.dumps(arguments)
    return ToolCall(id=str(one.get("id") or ""), name=str(function["name"]), arguments=arguments)


def _count(usage: Any, name: str) -> int:
    found = usage.get(name) if isinstance(usage, dict) else None
    return found if type(found) is int and found > 0 else 0


def _length(text: str, calls: Sequence[ToolCall]) -> int:
    return len(text) + sum(len(call.name) + len(call.arguments) for call in calls)
