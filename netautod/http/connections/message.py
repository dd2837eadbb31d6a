"""The head of a request and the framing of its body, read strictly (RFC 9110, RFC 9112).

What two readers in a row could understand differently is refused with 400, so that no client hides a second
request behind a proxy. Chunk extensions and trailers are read over, as RFC 9112 7.1 wants it.
"""

import re
from dataclasses import dataclass

from tornado.httputil import (
    HTTPHeaders,
    HTTPInputError,
    RequestStartLine,
    ResponseStartLine,
    parse_request_start_line,
)

from netautod.http.connections.refusal import Refusal

MAX_FIELDS = 256
MAX_CHUNK_LINE = 4096
# A line with a field as nearly all are: field-name, field-value without obs-text (RFC 9110 5.1, 5.5).
_FIELD = re.compile(
    r"^([!#$%&'*+.^_`|~0-9A-Za-z-]++):[ \t]*+([\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)[ \t]*\r\n",
    re.MULTILINE,
)
_LENGTH = re.compile(r"[0-9]{1,18}")
_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,15})(?:[ \t]*;[\t\x20-\x7e\x80-\xff]*)?\r\n")
_AUTHORITY = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~%!$&'()*+;=-]+)(?::[0-9]{0,5})?")


@dataclass(frozen=True, kw_only=True)
class Head:
    """The head of a request. `length` None: the body comes in chunks. `keeps`: another request may follow."""

    start: RequestStartLine
    headers: HTTPHeaders
    length: int | None
    keeps: bool

    @property
    def has_body(self) -> bool:
        return self.length != 0

    @property
    def waits(self) -> bool:
        """Return whether the client sends the body only after a 100 Continue (RFC 9110 10.1.1)."""
        expected: str = self.headers.get("Expect", "")
        return expected.lower() == "100-continue" and self.start.version != "HTTP/1.0"


def read_head(data: bytes) -> Head:
    """Parse the head, up to and with the empty line that ends it. Raises Refusal."""
    lines = data.count(b"\r\n")
    if data.count(b"\n") != lines or data.count(b"\r") != lines:
        raise Refusal(400, "Malformed request: a line does not end with CR and LF")
    first, _, rest = data.decode("latin-1").partition("\r\n")
    if rest.count("\r\n") > MAX_FIELDS + 1:
        raise Refusal(431, f"The request has more than {MAX_FIELDS} headers")
    if not first.isascii():
        raise Refusal(400, "Malformed request: the request line is not ASCII")
    try:
        start = parse_request_start_line(first)
        headers = _fields(rest)
    except HTTPInputError as error:
        raise malformed(error) from error
    start = _with_path(start, headers)
    _check_host(start, headers)
    return Head(start=start, headers=headers, length=_length(start, headers), keeps=_keeps(start, headers))


def malformed(error: HTTPInputError) -> Refusal:
    return Refusal(400, f"Malformed request: {error}")


def answer_head(start: ResponseStartLine, headers: HTTPHeaders) -> bytes:
    """Return the head of an answer in HTTP/1.1. Raises ValueError for a header with a line break."""
    lines = [f"HTTP/1.1 {start.code} {start.reason}"]
    lines += [f"{name}: {value}" for name, value in headers.get_all()]
    text = "\r\n".join(lines)
    if text.count("\n") != len(lines) - 1 or text.count("\r") != len(lines) - 1:
        raise ValueError(f"CR or LF in a header: {lines!r}")
    return f"{text}\r\n\r\n".encode("latin-1")


def chunk_size(line: bytes) -> int:
    """Return the size on the line that begins a chunk. Raises Refusal."""
    found = _CHUNK.fullmatch(line)
    if found is None:
        raise Refusal(400, "Malformed request: not a valid chunk")
    return int(found[1], 16)


def check_trailer(line: bytes) -> None:
    """Check a field behind the last chunk, which is ignored. Raises Refusal for what is no field."""
    try:
        if not line.endswith(b"\r\n"):
            raise HTTPInputError("a line does not end with CR and LF")
        HTTPHeaders().parse_line(line.decode("latin-1"))
    except HTTPInputError as error:
        raise malformed(error) from error


def _fields(text: str) -> HTTPHeaders:
    """Parse the fields as HTTPHeaders.parse does, which takes twice as long and is left what is unusual or
    wrong.
    """
    found = _FIELD.findall(text)
    if len(found) != text.count("\n") - 1:
        return HTTPHeaders.parse(text)
    headers = HTTPHeaders()
    for name, value in found:
        if name in headers:
            headers.add(name, value)
        else:
            headers[name] = value
    return headers


def _with_path(start: RequestStartLine, headers: HTTPHeaders) -> RequestStartLine:
    """Return the start line with the target's path and query, whichever form it has (RFC 9112 3.2)."""
    target = start.path
    if target.startswith("/"):
        return start
    if target == "*" and start.method == "OPTIONS":
        return start
    if start.method == "CONNECT" and _AUTHORITY.fullmatch(target):
        return start
    scheme, separator, rest = target.partition("://")
    authority = re.split(r"[/?#]", rest, maxsplit=1)[0]
    if not separator or scheme.lower() not in ("http", "https") or not _AUTHORITY.fullmatch(authority):
        raise Refusal(400, "Malformed request: the target is neither a path nor an http URL")
    if len(headers.get_list("Host")) == 1:
        headers["Host"] = authority  # the target's host wins (RFC 9112 3.2.2)
    path = rest[len(authority) :].partition("#")[0]
    if not path.startswith("/"):
        path = "*" if start.method == "OPTIONS" and not path else f"/{path}"
    return start._replace(path=path)


def _check_host(start: RequestStartLine, headers: HTTPHeaders) -> None:
    hosts = headers.get_list("Host")
    if len(hosts) > 1 or (not hosts and start.version != "HTTP/1.0"):
        raise Refusal(400, "Malformed request: there has to be one Host header")
    if hosts and hosts[0] and not _AUTHORITY.fullmatch(hosts[0]):
        raise Refusal(400, "Malformed request: the Host header is not a host")


def _length(start: RequestStartLine, headers: HTTPHeaders) -> int | None:
    lengths, codings = headers.get_list("Content-Length"), headers.get_list("Transfer-Encoding")
    if codings:
        if lengths:
            raise Refusal(400, "Malformed request: both Content-Length and Transfer-Encoding")
        if start.version == "HTTP/1.0" or len(codings) > 1 or codings[0].lower() != "chunked":
            raise Refusal(400, "Malformed request: the only Transfer-Encoding is chunked, in HTTP/1.1")
        return None
    if not lengths:
        return 0
    if len(lengths) > 1:
        raise Refusal(400, "Malformed request: there has to be one Content-Length header")
    if not _LENGTH.fullmatch(lengths[0]):
        raise Refusal(400, "Content-Length: Not a valid number")
    return int(lengths[0])


def _keeps(start: RequestStartLine, headers: HTTPHeaders) -> bool:
    options = {option.strip().lower() for option in headers.get("Connection", "").split(",")}
    return "keep-alive" in options if start.version == "HTTP/1.0" else "close" not in options
