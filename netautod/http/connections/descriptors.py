"""File descriptors: a connection takes one, and running out of them would stop more than connections."""

import logging
import resource
from typing import NamedTuple

logger = logging.getLogger(__name__)
RESERVE = 512
"""For the database, devices, files, worker processes and connections that are just being turned away."""


class Fitting(NamedTuple):
    """The numbers that fit the limit of files. `streams`: how many have files of their own; further ones
    count among the connections.
    """

    connections: int
    streams: int


def fitting(connections: int, streams: int) -> Fitting:
    """Return what this process can hold of these numbers. It raises the process's limit of files if
    it may.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return Fitting(connections, streams)
    wanted = connections + streams + RESERVE
    if soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    found = within(connections, soft)
    if found < connections:
        logger.warning(
            "limits.connections is lowered from %d to %d: the process may open %d files (ulimit -Hn)",
            connections,
            found,
            soft,
        )
    return Fitting(found, beside(found, streams, soft))


def beside(connections: int, streams: int, files: int) -> int:
    """Return how many streams fit in what the connections and the reserve leave."""
    return max(0, min(streams, files - RESERVE - connections))


def within(connections: int, files: int) -> int:
    """Return how many connections fit: half of very few files, else all but the reserve."""
    return max(1, min(connections, max(files - RESERVE, files // 2)))
