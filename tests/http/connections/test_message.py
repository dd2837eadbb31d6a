"""Heads, chunks and trailers as they are read: what is refused, and with which status."""

from collections.abc import Callable
from itertools import permutations

import pytest
from tornado.httputil import HTTPHeaders, HTTPInputError, ResponseStartLine

from netautod.http.connections import message
from netautod.http.connections.message import answer_head, check_trailer, chunk_size, read_head
from netautod.http.connections.refusal import Refusal


def head(*lines: str, first: str = "POST /a HTTP/1.1") -> bytes:
    return "\r\n".join([first, "Host: b", *lines, "", ""]).encode()


@pytest.mark.parametrize(
    ("data", "status", "text"),
    [
        pytest.param(head("Content-Length: 1", "Content-Length: 1"), 400, "one Content-Length", id="twice"),
        pytest.param(head("Content-Length: x"), 400, "Content-Length: Not a valid", id="no number"),
        pytest.param(head("Content-Length: -1"), 400, "Content-Length: Not a valid", id="a sign"),
        pytest.param(head(f"Content-Length: {'1' * 19}"), 400, "Content-Length: Not", id="19 digits"),
        pytest.param(
            head("Content-Length: 1", "Transfer-Encoding: chunked"), 400, "both Content-Length", id="both"
        ),
        pytest.param(head("Transfer-Encoding: gzip"), 400, "Transfer-Encoding is chunked", id="gzip"),
        pytest.param(
            head("Transfer-Encoding: chunked", first="POST /a HTTP/1.0"), 400, "is chunked", id="in HTTP/1.0"
        ),
        pytest.param(head("Host: c"), 400, "one Host header", id="two hosts"),
        pytest.param(b"GET / HTTP/1.1\r\n\r\n", 400, "one Host header", id="no host"),
        pytest.param(b"GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", 400, "not a host", id="a path for a host"),
        pytest.param(head(first="GET a HTTP/1.1"), 400, "neither a path", id="a word for a target"),
        pytest.param(head(first="GET ftp://a/ HTTP/1.1"), 400, "neither a path", id="another scheme"),
        pytest.param(head("X: a\nY: b"), 400, "CR and LF", id="a bare LF"),
        pytest.param(head("X: a\rY: b"), 400, "CR and LF", id="a bare CR"),
        pytest.param(head(*["X: a"] * 256), 431, "more than 256 headers", id="257 headers"),
        pytest.param(head(first="GET /\u00e4 HTTP/1.1"), 400, "not ASCII", id="a target in UTF-8"),
    ],
)
def test_a_head_that_is_refused(data: bytes, status: int, text: str) -> None:
    with pytest.raises(Refusal) as refused:
        read_head(data)
    assert refused.value.status == status
    assert text in refused.value.text


@pytest.mark.parametrize(
    ("data", "path", "length"),
    [
        pytest.param(head(), "/a", 0, id="no body"),
        pytest.param(head(f"Content-Length: {'1' * 18}"), "/a", int("1" * 18), id="18 digits"),
        pytest.param(head("Transfer-Encoding: Chunked"), "/a", None, id="chunks"),
        pytest.param(head(*["X: a"] * 255), "/a", 0, id="256 headers"),
        pytest.param(head(first="GET http://c:8/d?e#f HTTP/1.1"), "/d?e", 0, id="a URL"),
        pytest.param(head(first="GET HTTPS://c?e/f HTTP/1.1"), "/?e/f", 0, id="a URL without a path"),
        pytest.param(head(first="OPTIONS http://c HTTP/1.1"), "*", 0, id="the server in a URL"),
        pytest.param(head(first="OPTIONS * HTTP/1.1"), "*", 0, id="the server"),
    ],
)
def test_a_head_that_is_read(data: bytes, path: str, length: int | None) -> None:
    found = read_head(data)
    assert (found.start.path, found.length, found.has_body) == (path, length, length != 0)


FIELDS = (
    *("A: b", "A:c ", "B: \t d  e\t", "C:: :", "D: a\tb", "E:", "F: \t", "G: \xe9", "H: a\x7f", "I: \x00"),
    *("J-\xe9: a", " k: l", "m", ": n", "o p: q", "R : s", "'T!#$%&*+.^_`|~: u", "v: w", "V: x"),
)


def fields_by(read: Callable[[str], HTTPHeaders], text: str) -> list[tuple[str, str]] | str:
    """Return the fields, or the sentence of the refusal."""
    try:
        return list(read(text).get_all())
    except HTTPInputError as error:
        return str(message.malformed(error).text)
    except Refusal as refusal:
        return refusal.text


def test_fields_are_read_as_tornado_reads_them() -> None:
    """Compare our parser of usual fields with Tornado's."""

    def ours(text: str) -> HTTPHeaders:
        return read_head(f"GET / HTTP/1.1\r\n{text}\r\n".encode("latin-1")).headers

    for fields in permutations(FIELDS, 2):
        text = "".join(f"{line}\r\n" for line in ("Host: b", *fields))
        assert fields_by(ours, text) == fields_by(HTTPHeaders.parse, text), fields


def test_the_head_of_an_answer() -> None:
    headers = HTTPHeaders({"Content-Length": "2", "X-Name": "\xe9"})
    headers.add("X-Name", "again")
    wanted = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Name: \xe9\r\nX-Name: again\r\n\r\n"
    assert answer_head(ResponseStartLine("", 200, "OK"), headers) == wanted


@pytest.mark.parametrize("value", ["a\r\nSet-Cookie: b", "a\nb", "a\rb"])
def test_no_header_of_an_answer_is_more_than_one(value: str) -> None:
    for name, given in (("X", value), (value, "x")):
        headers = HTTPHeaders()
        headers[name] = given
        with pytest.raises(ValueError, match="CR or LF"):
            answer_head(ResponseStartLine("", 200, "OK"), headers)


@pytest.mark.parametrize(("line", "size"), [(b"0\r\n", 0), (b"fF ; a=b\r\n", 255), (b"a\r\n", 10)])
def test_chunks(line: bytes, size: int) -> None:
    assert chunk_size(line) == size


@pytest.mark.parametrize("line", [b"\r\n", b"g\r\n", b"5\n", b"-1\r\n", b"0x5\r\n", b"5 \r\n"])
def test_what_is_no_chunk(line: bytes) -> None:
    with pytest.raises(Refusal) as refused:
        chunk_size(line)
    assert (refused.value.status, refused.value.text) == (400, "Malformed request: not a valid chunk")


def test_a_chunk_may_have_fifteen_digits() -> None:
    assert chunk_size(b"1" * 15 + b"\r\n") == int("1" * 15, 16)
    with pytest.raises(Refusal):
        chunk_size(b"1" * 16 + b"\r\n")


def test_trailers() -> None:
    check_trailer(b"Checksum: a\r\n")
    for line in (b"Checksum: a\n", b"Checksum: a", b"no field\r\n"):
        with pytest.raises(Refusal) as refused:
            check_trailer(line)
        assert refused.value.status == 400
