"""The one way in which tests send an HTTP request."""

from collections.abc import Mapping
from typing import Any

from tornado.httpclient import AsyncHTTPClient, HTTPRequest, HTTPResponse

CLIENTS = 1000  # requests at a time: with the ten of Tornado the others would wait in this process
SECONDS = 300.0  # of a hang: a loaded machine is slow


async def fetch(
    url: str,
    method: str = "GET",
    *,
    body: str | bytes | None = None,
    headers: Mapping[str, str] | None = None,
    seconds: float = SECONDS,
    **options: Any,
) -> HTTPResponse:
    """Send a request and return the answer, whatever its status is; a redirect is not followed.

    `options` are those of Tornado's HTTPRequest.
    """
    request = HTTPRequest(
        url,
        method=method,
        headers=dict(headers or {}),
        body=body,
        allow_nonstandard_methods=True,
        follow_redirects=False,
        request_timeout=seconds,
        **options,
    )
    return await AsyncHTTPClient(max_clients=CLIENTS).fetch(request, raise_error=False)


def with_values(headers: Mapping[str, str]) -> dict[str, str]:
    """Leave out the headers that are empty: a test that replaces a header by nothing sends none."""
    return {name: value for name, value in headers.items() if value}


async def fetch_found(url: str, **options: Any) -> HTTPResponse:
    """Send a GET that must be answered by 200."""
    answer = await fetch(url, **options)
    assert answer.code == 200, (url, answer.code, answer.body)
    return answer
