"""What counts as time in which the event loop is held up, and whose fault that is."""

import os
import re
import threading

import pytest

from netautod.app.watch.samples import Sample, sample, seconds_on_cpu
from netautod.app.watch.stacks import MAIN, by_thread
from netautod.app.watch.stall import Stall, held_up
from netautod.app.watch.verdict import Inquiry
from netautod.core.watch.board import Board, MarkedRun
from netautod.executions.aftermath.models import Blocked, GivenUp


def seen(state: str, at: float, *, on_cpu: float = 0.0, waited: float = 0.0, page_ins: int = 0) -> Sample:
    return Sample(state=state, at=at, on_cpu=on_cpu, waited=waited, page_ins=page_ins)


@pytest.mark.parametrize(
    ("now", "counted"),
    [
        pytest.param(seen("S", 0.25), 0.25, id="it sleeps: all of it"),
        pytest.param(seen("R", 0.25, on_cpu=0.25), 0.25, id="it computes: all of it"),
        pytest.param(seen("D", 0.25), 0.25, id="it waits for a disk or a file server: all of it"),
        pytest.param(seen("R", 0.25, on_cpu=0.05), 0.05, id="it computes on a starved machine: what it ran"),
        pytest.param(seen("R", 0.25), 0.0, id="it never had a processor: nothing"),
        pytest.param(seen("S", 0.25, waited=0.2), 0.05, id="it slept and waited for a processor: the sleep"),
        pytest.param(seen("D", 0.25, page_ins=9), 0.0, id="its own pages are read in: nothing"),
        pytest.param(seen("T", 0.25), 0.0, id="it is stopped: nothing"),
        pytest.param(seen("t", 0.25), 0.0, id="a debugger has it: nothing"),
        pytest.param(seen("Z", 0.25), 0.0, id="it is dead: nothing"),
        pytest.param(seen("S", 60.0), 0.5, id="the watching process did not run either: one look's worth"),
    ],
)
def test_only_time_in_which_it_ran_itself_counts(now: Sample, counted: float) -> None:
    assert held_up(seen("S", 0.0), now, longest=0.5) == pytest.approx(counted)


def test_a_stall_adds_up_what_its_looks_count() -> None:
    stall = Stall(longest=0.5)
    for look in (seen("S", 0.0), seen("S", 0.25), seen("T", 0.5), seen("S", 0.75)):
        stall.look(look)
    assert stall.seconds == pytest.approx(0.5)


def test_a_look_at_a_process() -> None:
    before, after = sample(os.getpid()), sample(os.getpid())
    assert before is not None
    assert after is not None
    assert (before.state, after.on_cpu >= before.on_cpu > 0) == ("R", True)
    assert sample(2**22 + 1) is None


DUMP = """Thread 0x00007f0000000002 (most recent call first):
  File "/lib/re.py", line 3 in match
  File "/site/acme.py", line 9 in run

Current thread 0x00007f0000000001 (most recent call first):
  File "/site/acme.py", line 12 in run
  <no Python frame>
"""


def test_the_stacks_of_a_dump() -> None:
    stacks = by_thread(DUMP)
    assert [str(frame) for frame in stacks[MAIN]] == ["/site/acme.py:12 in run"]
    assert [frame.place for frame in stacks[0x7F0000000002]] == [
        "re.py, line 3, in match",
        "acme.py, line 9, in run",
    ]


def marked(name: str) -> MarkedRun:
    return MarkedRun(execution_id=f"id of {name}", epoch=3, task=name, plugin="acme")


def test_the_run_on_the_loop_is_named_with_where_it_is() -> None:
    board = Board()
    board.begin("node-1")
    inquiry = Inquiry(board, os.getpid())
    board.mark(board.enter(marked("nightly")))
    culprit = inquiry.culprit(Stall(longest=1), DUMP)
    assert str(culprit) == "the task 'nightly' (execution id of nightly) in the plugin acme"
    assert culprit.stack == "/site/acme.py:12 in run"
    given_up = culprit.given_up(board.node_id, 20.4)
    text = "the run blocked its node for 20 seconds in the plugin acme (acme.py, line 12, in run)"
    assert given_up == GivenUp(node_id="node-1", by=Blocked(execution_id="id of nightly", epoch=3, text=text))


@pytest.mark.parametrize("busy", [True, False], ids=["computes", "waits as well"])
def test_a_thread_that_computes_while_the_loop_waits_is_the_culprit(busy: bool) -> None:
    board = Board()
    noted, told = threading.Event(), threading.Event()
    entry = board.enter(marked("threaded"))

    def work() -> None:
        board.note_thread(entry, marked("threaded"))
        noted.set()
        told.wait()
        while busy and not done.is_set():
            re.match("(a+)+$", "a" * 18 + "b")  # holds the interpreter lock for a while, again and again

    done = threading.Event()
    thread = threading.Thread(target=work)
    thread.start()
    noted.wait()
    inquiry, stall = Inquiry(board, os.getpid()), Stall(longest=1)
    told.set()
    stall.look(seen("S", 0.0))
    stall.look(seen("S", 0.01))
    [before] = board.threads()
    while busy and seconds_on_cpu(os.getpid(), before.thread) < 0.1:
        done.wait(0.01)
    culprit = inquiry.culprit(stall, DUMP)
    done.set()
    thread.join()
    assert (culprit.run is not None) == busy


def test_code_of_nobody_is_named_by_its_stack_only() -> None:
    culprit = Inquiry(Board(), os.getpid()).culprit(Stall(longest=1), DUMP)
    assert (str(culprit), culprit.stack) == ("code that belongs to no run", "/site/acme.py:12 in run")
    assert culprit.given_up("node-1", 20) == GivenUp(node_id="node-1", by=None)
