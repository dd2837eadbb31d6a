"""The limit of connections fits the files that the process may open."""

import pytest

from netautod.http.connections.descriptors import beside, within


@pytest.mark.parametrize(
    ("connections", "files", "found"),
    [
        pytest.param(2000, 65536, 2000, id="files enough"),
        pytest.param(2000, 2512, 2000, id="just enough"),
        pytest.param(2000, 1024, 512, id="the usual soft limit"),
        pytest.param(2000, 256, 128, id="hardly any"),
        pytest.param(10, 1024, 10, id="few connections"),
        pytest.param(10, 1, 1, id="at least one"),
    ],
)
def test_connections_leave_files_for_the_rest(connections: int, files: int, found: int) -> None:
    assert within(connections, files) == found


@pytest.mark.parametrize(
    ("connections", "files", "found"),
    [
        pytest.param(2000, 65536, 1000, id="files enough"),
        pytest.param(2000, 2912, 400, id="for some of them"),
        pytest.param(512, 1024, 0, id="for none: they count among the connections"),
        pytest.param(128, 256, 0, id="hardly any"),
    ],
)
def test_streams_have_what_connections_leave(connections: int, files: int, found: int) -> None:
    assert beside(connections, 1000, files) == found
