"""A client of a service under test, for tests that are plain functions."""

import json
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

_SECONDS = 60.0
_NEVER = "0 0 1 1 *"  # New Year: not while the test runs
_ENDED = ("completed", "failed", "cancelled", "timeout")


@dataclass(frozen=True, kw_only=True)
class ServiceAnswer:
    """An answer of any status; `json` is None for an empty body. The names in `headers` are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)

    @property
    def json(self) -> Any:
        return json.loads(self.body) if self.body else None


@dataclass(frozen=True, kw_only=True)
class ServiceClient:
    """A client of a service. `url` is the service's, `token` that of a login, or None. A path begins with a
    slash.
    """

    url: str
    token: str | None = field(default=None, repr=False)

    def get(self, path: str) -> ServiceAnswer:
        return self.request("GET", path)

    def post(self, path: str, body: Any = None) -> ServiceAnswer:
        return self.request("POST", path, body)

    def put(self, path: str, body: Any = None) -> ServiceAnswer:
        return self.request("PUT", path, body)

    def delete(self, path: str) -> ServiceAnswer:
        return self.request("DELETE", path)

    def request(
        self, method: str, path: str, body: Any = None, *, headers: Mapping[str, str] | None = None
    ) -> ServiceAnswer:
        """Send one request; redirects are not followed."""
        sent = {"Content-Type": "application/json", **(headers or {})}
        if self.token is not None:
            sent.setdefault("Authorization", f"Bearer {self.token}")
        content = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}{path}", method=method, headers=sent, data=content)
        try:
            answer = _OPENER.open(request, timeout=_SECONDS)
        except urllib.error.HTTPError as error:
            answer = error
        with answer:
            received = {name.lower(): value for name, value in answer.headers.items()}
            return ServiceAnswer(status=answer.status, headers=received, body=answer.read())

    def login(self, username: str, password: str, **fields: Any) -> "ServiceClient":
        """Return a client that is logged in; AssertionError if the service does not admit the user."""
        answer = self.post("/api/auth/login", {"username": username, "password": password, **fields})
        assert answer.status == 200, f"the login of {username} is answered {answer.status}: {answer.json}"
        return ServiceClient(url=self.url, token=answer.json["access_token"])

    def run_task(
        self, task_type: str, parameters: Mapping[str, Any] | None = None, *, seconds: float = _SECONDS
    ) -> Any:
        """Create a task of this type, run it once and return the execution when it has ended.

        AssertionError with the service's sentence if the task is refused, or does not end within `seconds`.
        """
        task = {
            "name": f"{task_type} {uuid4().hex[:8]}",
            "task_type": task_type,
            "cron_expression": _NEVER,
            "parameters": dict(parameters or {}),
            "max_retries": 0,
        }
        made = self._made("/api/tasks/schedules", task)
        started = self._made(f"/api/tasks/schedules/{made['id']}/run", None)
        path, until = f"/api/tasks/executions/{started['id']}", time.monotonic() + seconds
        while (execution := self.get(path).json)["state"] not in _ENDED:
            assert time.monotonic() < until, f"{task_type} is {execution['state']} after {seconds:g} s"
            time.sleep(0.05)
        return execution

    def poll(self, device_id: str, *, seconds: float = _SECONDS) -> Any:
        """Poll the device and return the poll when it has ended."""
        poll_id = self._made(f"/api/devices/{device_id}/poll", None)["poll_id"]
        until = time.monotonic() + seconds
        while True:
            polls = self.get(f"/api/devices/{device_id}/poll-history").json["polls"]
            for one in polls:
                if one["id"] == poll_id and one["completed_at"] is not None:
                    return one
            assert time.monotonic() < until, f"the poll has not ended after {seconds:g} s"
            time.sleep(0.05)

    def _made(self, path: str, body: Any) -> Any:
        answer = self.post(path, body)
        assert answer.status in (200, 201, 202), f"POST {path} is answered {answer.status}: {answer.json}"
        return answer.json


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


# Without the proxies of the environment, which are not for a server on this machine.
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}), _NoRedirects)
