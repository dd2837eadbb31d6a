"""File descriptors: a connection takes one, and running out of them would stop more than connections."""

import logging
import resource

logger = logging.getLogger(__name__)
RESERVE = 512
"""For the database, devices, files, worker processes and connections that are just being turned away."""


def fitting(connections: int, *, streams: int = 0) -> int:
    """How many connections this process can hold of those that are wanted beside so many streams; raises its
    limit if it may."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return connections
    wanted = connections + streams + RESERVE
    if soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    found = within(connections, soft - streams)
    if found < connections:
        logger.warning(
            "limits.connections is lowered from %d to %d: the process may open %d files (ulimit -Hn)",
            connections,
            found,
            soft,
        )
    return found


def within(connections: int, files: int) -> int:
    """Half of very few files, else all but the reserve."""
    return max(1, min(connections, max(files - RESERVE, files // 2)))
