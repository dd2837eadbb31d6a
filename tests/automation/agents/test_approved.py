"""An approval is used up before the first line, whoever comes with it a second time."""

from collections.abc import Mapping
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast
from uuid import uuid4

import pytest

from netautod.automation.agents.approvals import Approval, approval_hash
from netautod.automation.agents.changes.approved import ApprovedCalls
from netautod.automation.agents.runs import AgentServices, DeskRun
from netautod.automation.agents.store import ChangeStore
from netautod.automation.agents.tools.contract import Calling
from netautod.core.clock import SystemClock
from netautod.core.identity.caller import OrgId
from netautod.core.work.context import Work
from netautod.core.work.guard import LeaseLostError
from netautod.plugin_api import ApprovalDecision, PermanentFailure
from netautod.store.client import Database
from tests.plugins.agent.scripted import Tool

ARGUMENTS = {"text": "x"}


class Node:
    """A node that holds the approval of the same call."""

    def __init__(self, database: Database, execution: str) -> None:
        self.marks: list[bool] = []
        self.lost = False
        services = SimpleNamespace(
            begin_change=ChangeStore(database).begin, mark_unclear=self.mark, clock=SystemClock()
        )
        work = SimpleNamespace(org_id=OrgId("a"), persist=lambda ask: ask(), guard=self.guard)
        run = DeskRun(execution_id=execution, owner_id="o", scope=None, approval=None)
        self.calls = ApprovedCalls(services=cast(AgentServices, services), work=cast(Work, work), run=run)
        self.calling = Calling(
            work=cast(Work, work),
            acting=cast(Any, None),
            http=cast(Any, None),
            admitted=lambda device_id: None,
            execution_id=execution,
            call_id="c1",
            writing=self.calls.mark,
        )

    async def mark(self, org_id: OrgId, execution_id: str, *, unclear: bool) -> None:
        self.marks.append(unclear)

    def guard(self) -> None:
        if self.lost:
            raise LeaseLostError("gone")

    async def made(self, tool: Tool, arguments: Mapping[str, Any] = ARGUMENTS) -> Any:
        decision = ApprovalDecision(decision="approved", by="boss", comment=None, at=datetime.now(UTC))
        shown = approval_hash(tool.name, ARGUMENTS, {})
        return await self.calls.made(
            tool, arguments, self.calling, Approval(call_id="c1", hash=shown, decision=decision)
        )


@pytest.fixture
def tool() -> Tool:
    return Tool(name="write", kind="write", says="done")


async def test_two_nodes_with_one_approval_do_it_once(database: Database, tool: Tool) -> None:
    execution = str(uuid4())
    first, second = Node(database, execution), Node(database, execution)
    assert (await first.made(tool)).text == "done"
    assert first.marks == [True, False]
    with pytest.raises(PermanentFailure, match="outcome unknown: the call c1 of write was begun before"):
        await second.made(tool)
    assert len(tool.calls) == 1
    assert second.calls.approval_used
    assert second.marks == []


async def test_a_node_that_lost_its_run_does_not_use_it_up(database: Database, tool: Tool) -> None:
    execution = str(uuid4())
    late, right = Node(database, execution), Node(database, execution)
    late.lost = True
    with pytest.raises(LeaseLostError):
        await late.made(tool)
    assert (await right.made(tool)).ok
    assert len(tool.calls) == 1


async def test_other_arguments_do_not_use_it_up(database: Database, tool: Tool) -> None:
    execution = str(uuid4())
    node = Node(database, execution)
    refused = await node.made(tool, {"text": "y"})
    assert "what was approved is not what would be done now" in refused.text
    assert not node.calls.approval_used
    assert (await node.made(tool)).ok


async def test_what_fails_in_the_middle_stays_marked(database: Database, tool: Tool) -> None:
    tool.says = ZeroDivisionError("oh")
    node = Node(database, str(uuid4()))
    with pytest.raises(PermanentFailure, match="outcome unknown"):
        await node.made(tool)
    assert node.marks == [True]
    assert node.calls.under_way
