"""The desk of one attempt of an agent's run: the transcript, the tools, and who may use them.

Every call is made in the name of the task's owner with the permissions of that moment. A call that is not
allowed, fails or is not understood becomes a result for the model, so that it can do something else. Whatever
the model says is untrusted input throughout.
"""

import json
import logging
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from marshmallow import ValidationError

from netautod.automation.agents.approvals import Approval
from netautod.automation.agents.changes.approved import ApprovedCalls, refusal
from netautod.automation.agents.models import START, Chained, chained, problem_of
from netautod.automation.agents.presentation import Presenter, cleaned, marked
from netautod.automation.agents.runs import AgentServices, DeskRun
from netautod.automation.agents.tools.contract import Calling, json_schema
from netautod.core.errors import Forbidden, InvalidInput, NetautodError, NotFound
from netautod.core.json import values as json_values
from netautod.core.schema.bases import sentence
from netautod.core.work.context import Work
from netautod.core.work.guard import LeaseLostError
from netautod.plugin_api import (
    AddressRefused,
    AgentTool,
    ApprovalWanted,
    DeviceFailed,
    ExecutionFailed,
    ModelBackend,
    ModelReply,
    PermanentFailure,
    RequestFailed,
    ToolCall,
    ToolDescription,
    ToolOutcome,
    TranscriptEvent,
)
from netautod.plugin_api.agents import Role

logger = logging.getLogger(__name__)
MOST_ARGUMENTS = 200_000  # bytes, of all calls of one turn: a parked run stores them
MOST_CALLS = 100  # of one turn; further ones are dropped
TOO_LONG = "(too long)"
MOST_TEXT = 200_000  # characters of a model's text in one turn
_PLAIN_ID = re.compile(r"[A-Za-z0-9_.-]{1,64}")
INTERRUPTED = "the run was interrupted before this call was made; make it again if it is still wanted"


class Desk:
    """The `AgentDesk` of one attempt.

    `work` is that of the attempt, `run` what the desk must know of it.
    """

    def __init__(self, *, services: AgentServices, work: Work, run: DeskRun) -> None:
        self._services = services
        self._work = work
        self._run = run
        self._tools: Mapping[str, AgentTool] = services.tools
        self._presenter = Presenter(services.redact)
        self._events: list[Chained] | None = None
        self._changes = ApprovedCalls(services=services, work=work, run=run)

    @property
    def has_written(self) -> bool:
        """Return whether the run has used up an approval: if so, it is not started again."""
        return self._changes.approval_used

    @property
    def is_writing(self) -> bool:
        """Return whether the result of a change would be unknown if the run ended now."""
        return self._changes.under_way

    @property
    def model(self) -> ModelBackend | None:
        return self._services.model

    async def briefing(self) -> str:
        return await self._presenter.hidden(await self._services.briefing(self._work.org_id))

    def tools(self) -> Sequence[ToolDescription]:
        return [
            ToolDescription(
                name=tool.name, description=tool.description, parameters=json_schema(tool.parameters)
            )
            for tool in self._tools.values()
            if tool.kind != "forbidden" and self._may(self._work, tool)
        ]

    async def events(self) -> Sequence[TranscriptEvent]:
        return [one.event for one in await self._known()]

    async def say(self, role: Role, text: str) -> TranscriptEvent:
        return await self._add(role=role, text=await self._presenter.hidden(text))

    async def replied(self, reply: ModelReply, duration_ms: int) -> TranscriptEvent:
        """Record a reply of the model.

        Ids of calls that were used before, or that no request could carry, are replaced.
        """
        used = {call.id for event in await self.events() for call in event.tool_calls}
        calls, left = [], MOST_ARGUMENTS
        for call in reply.tool_calls[:MOST_CALLS]:
            call_id = _fresh(call.id, used)
            used.add(call_id)
            left -= len(call.arguments.encode(errors="replace"))
            exact = call.arguments if left >= 0 else TOO_LONG
            shown = await self._presenter.hidden(exact)
            calls.append(ToolCall(id=call_id, name=_name(call.name), arguments=shown))
            self._run.exact[call_id] = ToolCall(id=call_id, name=_name(call.name), arguments=exact)
        return await self._add(
            role="assistant",
            text=cleaned(reply.text[:MOST_TEXT]),
            tool_calls=tuple(calls),
            model=cleaned(reply.model[:200]),
            input_tokens=reply.input_tokens,
            output_tokens=reply.output_tokens,
            duration_ms=duration_ms,
        )

    async def stopped(self, reason: str) -> None:
        await self._add(role="stopped", text=cleaned(reason))

    async def call(self, call: ToolCall, admit: Callable[[str], None]) -> TranscriptEvent:
        exact = self._run.exact.get(call.id)
        work = await self._as_owner()
        visited: list[str] = []

        def admitted(device_id: str) -> None:
            admit(device_id)
            visited.append(device_id)

        calling = Calling(
            work=work,
            acting=self._services.acting(work),
            http=self._services.http.under(work.guard),
            admitted=admitted,
            execution_id=self._run.execution_id,
            call_id=call.id,
            writing=self._changes.mark,
        )
        started = time.monotonic()
        approval = self._run.approval_of(call.id)
        outcome = refusal(INTERRUPTED) if exact is None else await self._outcome(exact, calling, approval)
        self._run.exact.pop(call.id, None)
        lines = await self._presenter.lines(outcome.text)
        source = " ".join((await self._presenter.hidden(outcome.source or call.name)).split())
        return await self._add(
            role="tool",
            tool=call.name,
            tool_call_id=call.id,
            arguments=call.arguments,
            result=marked(call.id, source, lines, outcome.first_line),
            ok=outcome.ok,
            source=source,
            first_line=outcome.first_line,
            lines=len(lines),
            documents=tuple(outcome.documents),
            device_ids=tuple(dict.fromkeys(visited)),
            duration_ms=round((time.monotonic() - started) * 1000),
            approval=None if approval is None else approval.to_json(),
            actor=work.caller.username,
        )

    async def _outcome(self, call: ToolCall, calling: Calling, approval: Approval | None) -> ToolOutcome:
        tool = self._tools.get(call.name)
        try:
            arguments = _arguments(tool, call)
            assert tool is not None  # or there would be no arguments
            if not self._may(calling.work, tool):
                raise Forbidden(f"the owner of the task lacks the permission {tool.permission}")
            if tool.kind == "write":
                return await self._changes.made(tool, arguments, calling, approval)
            return await tool.call(arguments, calling)
        except (ExecutionFailed, ApprovalWanted, LeaseLostError):
            raise
        except DeviceFailed as failure:
            return refusal(f"{failure.kind}: {failure.text}")
        except (NetautodError, AddressRefused, RequestFailed) as error:
            return refusal(error.text)
        except Exception:  # a plugin's tool may raise anything: the model can continue without it
            logger.exception("the tool %s failed", call.name)
            return refusal("the tool failed unexpectedly; the service log has the details")

    async def _as_owner(self) -> Work:
        """Return the work with the permissions that the owner has at this moment."""
        find = partial(self._services.owner, self._work.org_id, self._run.owner_id)
        caller = await self._work.persist(find)
        if caller is None:
            raise PermanentFailure("the owner of the task is disabled or deleted")
        return replace(self._work, caller=caller.within(self._run.scope))

    @staticmethod
    def _may(work: Work, tool: AgentTool) -> bool:
        return tool.permission is None or work.caller.can(tool.permission)

    async def _known(self) -> list[Chained]:
        if self._events is None:
            read = partial(self._services.transcripts.read, self._work.org_id, self._run.execution_id)
            found = await self._work.persist(read)
            problem = problem_of(self._run.execution_id, found)
            if problem is not None:
                raise PermanentFailure(f"the transcript is damaged: {problem}")
            self._events = list(found)
            self._changes.approval_used |= any(_is_approved(one.event) for one in found)
        return self._events

    async def _add(self, *, role: str, **fields: Any) -> TranscriptEvent:
        known = await self._known()
        self._work.guard()
        event = TranscriptEvent(seq=len(known) + 1, at=self._services.clock.now(), role=role, **fields)
        one = chained(self._run.execution_id, event, known[-1].hash if known else START)
        append = self._services.transcripts.append
        await self._work.persist(partial(append, self._work.org_id, self._run.execution_id, one))
        known.append(one)
        return event


def _arguments(tool: AgentTool | None, call: ToolCall) -> Mapping[str, Any]:
    """Return the arguments of a call. Raises NotFound, Forbidden or InvalidInput if it cannot be made."""
    if tool is None:
        raise NotFound(f"there is no tool {call.name!r}")
    if tool.kind == "forbidden":
        raise Forbidden(f"the tool {tool.name} is forbidden")
    if call.arguments == TOO_LONG:
        raise InvalidInput(f"the arguments of the turn's calls are longer than {MOST_ARGUMENTS} bytes")
    try:
        found = json.loads(call.arguments or "{}", parse_constant=json_values.no_constant)
    except (ValueError, RecursionError) as error:
        raise InvalidInput("the arguments are not valid JSON") from error
    if not isinstance(found, dict):
        raise InvalidInput("the arguments are no JSON object")
    json_values.check(found)
    try:
        loaded: Mapping[str, Any] = tool.parameters().load(found)
    except ValidationError as error:
        raise InvalidInput(sentence(error.messages)) from error
    return loaded


def _is_approved(event: TranscriptEvent) -> bool:
    return event.approval is not None and event.approval.get("decision") == "approved"


def _fresh(call_id: str, used: set[str]) -> str:
    base = call_id if _PLAIN_ID.fullmatch(call_id) else "call"
    if base == call_id and base not in used:
        return base
    number = len(used) + 1
    while f"{base[:50]}-{number}" in used:
        number += 1
    return f"{base[:50]}-{number}"


def _name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)[:64] or "unnamed"
