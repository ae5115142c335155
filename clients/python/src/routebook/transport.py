"""Sends calls and retries them if that is safe and may help."""

from __future__ import annotations

import json
import random
import secrets
import time
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import Any, Callable, Dict, Mapping, Optional
from urllib.parse import quote, urlencode, urlsplit

from .errors import RoutebookError, failure_of

DEFAULT_TIMEOUT = 90.0
DEFAULT_RETRIES = 4
# Waits if the server names none: 250 ms, 500 ms, 1 s, …, each randomly between half of it and all of it.
FIRST_WAIT = 0.25
LONGEST_WAIT = 8.0
CHUNK = 64 * 1024
# Several times the largest answer of Routebook: the data of a call has at most 10 MiB, a page of a list somewhat more.
DEFAULT_MAX_BYTES = 64 * 1024 * 1024

OnRetry = Callable[[RoutebookError, float], None]


class Transport:
    """A connection to one server with one key."""

    def __init__(
        self,
        base_url: str,
        api_key: Optional[str],
        *,
        timeout: float = DEFAULT_TIMEOUT,
        max_retries: int = DEFAULT_RETRIES,
        max_answer_bytes: int = DEFAULT_MAX_BYTES,
        on_retry: Optional[OnRetry] = None,
    ) -> None:
        url = urlsplit(base_url)
        if url.scheme not in ("http", "https") or not url.hostname or url.username or url.query or url.fragment:
            raise ValueError("base_url is the http or https address of a Routebook, such as http://localhost:8080")
        self._url = url
        self._path = url.path.rstrip("/")
        self._base = base_url.rstrip("/")
        self._api_key = api_key
        self._timeout = timeout
        self._max_retries = max_retries
        self._max_answer_bytes = max_answer_bytes
        self._on_retry = on_retry

    @property
    def has_key(self) -> bool:
        return self._api_key is not None

    def call(
        self,
        method: str,
        path: str,
        *,
        query: Optional[Mapping[str, Any]] = None,
        body: Any = None,
        headers: Optional[Mapping[str, str]] = None,
        timeout: Optional[float] = None,
        idempotency_key: Optional[str] = None,
        repeatable: bool = True,
    ) -> Dict[str, Any]:
        """Sends a call and returns the body of the answer. ``timeout`` covers all retries, in seconds. A call that is not
        ``repeatable`` is not sent again after its answer was lost.

        :raises RoutebookError: if it failed or timed out
        """
        ends_at = time.monotonic() + (self._timeout if timeout is None else timeout)
        key = None if method == "GET" else (idempotency_key or secrets.token_hex(16))
        sent = dict(headers or {})
        sent["accept"] = "application/json"
        if self._api_key is not None:
            sent["authorization"] = f"Bearer {self._api_key}"
        if key is not None:
            sent["idempotency-key"] = key
        payload = None
        if body is not None:
            sent.setdefault("content-type", "application/json")
            payload = body if isinstance(body, bytes) else json.dumps(body).encode()
        target = self._path + path + _query_of(query)
        retries = 0
        while True:
            try:
                return self._try(method, target, payload, sent, ends_at)
            except RoutebookError as error:
                error.idempotency_key = key
                left = ends_at - time.monotonic()
                if left <= 0:
                    raise RoutebookError(
                        "TIMEOUT",
                        "No answer came in time; the server may still be at work.",
                        retryable=True,
                        idempotency_key=key,
                    ) from error
                if not repeatable and error.code == "NETWORK_ERROR":
                    error.retryable = False
                if not error.retryable or (not repeatable and error.code == "INVALID_ANSWER"):
                    raise
                # Waiting for the call's own first attempt to end does not count.
                if error.code != "IDEMPOTENCY_IN_PROGRESS":
                    retries += 1
                    if retries > self._max_retries:
                        raise
                wait = _wait_before(retries, error.retry_after)
                if wait >= left:
                    raise
                if self._on_retry is not None:
                    self._on_retry(error, wait)
                time.sleep(wait)

    def _try(self, method: str, target: str, payload: Optional[bytes], headers: Mapping[str, str], ends_at: float) -> Dict[str, Any]:
        left = max(0.001, ends_at - time.monotonic())
        connect = HTTPSConnection if self._url.scheme == "https" else HTTPConnection
        connection = connect(self._url.hostname or "", self._url.port, timeout=left)
        try:
            connection.request(method, target, body=payload, headers=dict(headers))
            response = connection.getresponse()
            text = _read(response, ends_at, self._max_answer_bytes)
        except (OSError, HTTPException) as cause:
            raise RoutebookError(
                "NETWORK_ERROR",
                f"{self._base} cannot be reached, or the connection broke off ({type(cause).__name__}).",
                retryable=True,
            ) from cause
        finally:
            connection.close()
        if text is None:
            raise RoutebookError(
                "INVALID_ANSWER",
                f"The answer has more than {self._max_answer_bytes} bytes and was not read to its end;"
                " max_answer_bytes changes the limit.",
                status=response.status,
            )
        try:
            body = json.loads(text)
        except ValueError:
            body = None
        if 200 <= response.status < 300 and isinstance(body, dict):
            return body
        raise failure_of(response.status, body, response.headers.get("retry-after"))


def _read(response: HTTPResponse, ends_at: float, max_bytes: int) -> Optional[bytes]:
    """Reads with a timeout for the complete body; a socket timeout restarts with each byte. Returns ``None`` for one with
    more than ``max_bytes`` bytes."""
    chunks = []
    left = max_bytes
    while True:
        chunk = response.read1(CHUNK)
        if not chunk:
            return b"".join(chunks)
        left -= len(chunk)
        if left < 0:
            return None
        chunks.append(chunk)
        if time.monotonic() > ends_at:
            raise TimeoutError("the answer took too long")


def segment(name: str) -> str:
    """Encodes an id as one path segment."""
    return quote(str(name), safe="")


def _query_of(query: Optional[Mapping[str, Any]]) -> str:
    pairs = [(name, _written(value)) for name, value in (query or {}).items() if value is not None]
    return f"?{urlencode(pairs)}" if pairs else ""


def _written(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _wait_before(retry: int, retry_after: Optional[int]) -> float:
    """Never shorter than the server asks for. The rest is random, so that callers do not retry together."""
    if retry_after is not None:
        return retry_after * (1 + random.random() / 5)
    whole = min(LONGEST_WAIT, FIRST_WAIT * 2 ** max(0, retry - 1))
    return whole * (0.5 + random.random() / 2)
