"""The outcome that the end of an attempt gives its execution."""

from dataclasses import replace

import pytest

from netautod.automation.executions.models import Execution
from netautod.automation.executions.records import outcome
from netautod.automation.executions.records.outcome import Finished, HandedBack, Outcome, Parked, Retried
from netautod.core.errors import Forbidden, Unavailable
from netautod.plugin_api import DeviceFailed, ExecutionFailed, NeedsApproval, PermanentFailure
from tests.support.execution import manual_run, task

RUN = replace(manual_run(task()), max_retries=2, retry_delay_seconds=30)
LAST = replace(RUN, retry_count=2)


def failed(text: str, output: object = None) -> Finished:
    return Finished(state="failed", error_message=text, output=output)


def retried(text: str, output: object = None) -> Retried:
    return Retried(error_message=text, delay_seconds=30, attempt="failed", output=output)


@pytest.mark.parametrize(
    ("error", "first", "last"),
    [
        pytest.param(
            ExecutionFailed("x", output={"n": 1}),
            retried("x", {"n": 1}),
            failed("x", {"n": 1}),
            id="a failure keeps its output",
        ),
        pytest.param(
            ExecutionFailed("x", output=object()), retried("x"), failed("x"), id="output that is no JSON"
        ),
        pytest.param(PermanentFailure("x"), failed("x"), failed("x"), id="permanent"),
        pytest.param(DeviceFailed("x", kind="auth"), failed("x"), failed("x"), id="a final kind"),
        pytest.param(DeviceFailed("x", kind="timeout"), retried("x"), failed("x"), id="a kind that passes"),
        pytest.param(Forbidden("x"), failed("x"), failed("x"), id="refused"),
        pytest.param(Unavailable("x"), retried("x"), failed("x"), id="an outage"),
        pytest.param(
            RuntimeError("secret"),
            retried(outcome.UNEXPECTED),
            failed(outcome.UNEXPECTED),
            id="an unknown error hides its text",
        ),
    ],
)
def test_what_an_exception_means_with_retries_left_and_without(
    error: BaseException, first: Outcome, last: Outcome
) -> None:
    assert outcome.raised(RUN, error, approval_seconds=60) == first
    assert outcome.raised(LAST, error, approval_seconds=60) == last


def test_an_approval_parks_the_execution_with_its_state() -> None:
    requested = NeedsApproval({"command": "reload"}, state={"step": 2})
    parked = Parked(request={"command": "reload"}, resume={"step": 2}, expires_seconds=60)
    assert outcome.raised(LAST, requested, approval_seconds=60) == parked


def test_a_state_that_is_too_large_fails_the_execution() -> None:
    requested = NeedsApproval({}, state="x" * outcome.MAX_RESUME)
    ended = outcome.raised(RUN, requested, approval_seconds=60)
    assert ended == failed(f"the executor's saved state is larger than {outcome.MAX_RESUME} bytes")


@pytest.mark.parametrize(
    ("run", "idempotent", "expected"),
    [
        pytest.param(
            RUN, True, Retried(error_message="node lost", delay_seconds=0, attempt="lost"), id="again"
        ),
        pytest.param(RUN, False, failed("node lost"), id="not idempotent"),
        pytest.param(LAST, True, failed("node lost"), id="no retries left"),
    ],
)
def test_the_run_of_a_lost_node(run: Execution, idempotent: bool, expected: Outcome) -> None:
    assert outcome.lost(run, idempotent=idempotent) == expected


def test_a_node_that_stops_hands_back_what_can_run_again() -> None:
    assert outcome.stopped(idempotent=True) == HandedBack()
    assert outcome.stopped(idempotent=False) == failed("the node was stopped")


def test_output_that_is_too_large_fails_the_execution() -> None:
    ended = outcome.completed("x" * outcome.MAX_OUTPUT)
    assert ended == failed(f"the executor's output is larger than {outcome.MAX_OUTPUT} bytes")
    assert outcome.completed([1]) == Finished(state="completed", error_message=None, output=[1])
