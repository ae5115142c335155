"""A blocking client for the Routebook API."""

from __future__ import annotations

import os
from typing import Any, Iterator, Mapping, Optional

from .batches import Batches
from .jobs import Jobs
from .lists import Json, pages_of
from .monitors import Monitors
from .transport import DEFAULT_MAX_BYTES, DEFAULT_RETRIES, DEFAULT_TIMEOUT, OnRetry, Transport, segment

#: Seconds that a fetch may take beyond its ``timeout_ms``, for the way of the answer.
FETCH_GRACE = 10.0


class Routebook:
    """Each method returns the body of the response and raises :class:`RoutebookError`.

    :param base_url: URL of the server; ``ROUTEBOOK_URL`` by default
    :param api_key: not needed for browsing; ``ROUTEBOOK_API_KEY`` by default
    :param timeout: timeout of a call with all its retries, in seconds
    :param max_answer_bytes: maximum number of bytes of one answer; a longer one is ``INVALID_ANSWER``
    :param on_retry: called with the error and the seconds before each wait
    """

    def __init__(
        self,
        base_url: Optional[str] = None,
        api_key: Optional[str] = None,
        *,
        timeout: float = DEFAULT_TIMEOUT,
        max_retries: int = DEFAULT_RETRIES,
        max_answer_bytes: int = DEFAULT_MAX_BYTES,
        on_retry: Optional[OnRetry] = None,
    ) -> None:
        self.transport = Transport(
            base_url or os.environ.get("ROUTEBOOK_URL") or "http://localhost:8080",
            api_key or os.environ.get("ROUTEBOOK_API_KEY") or None,
            timeout=timeout,
            max_retries=max_retries,
            max_answer_bytes=max_answer_bytes,
            on_retry=on_retry,
        )
        self.jobs = Jobs(self.transport)
        self.batches = Batches(self.transport)
        self.monitors = Monitors(self.transport)

    def find(self, task: str, **query: Any) -> Json:
        """Finds endpoints of all sites for a task, best first."""
        return self.transport.call("GET", "/v1/endpoints", query={"task": task, **query})

    def catalog(self, domain: str, intent: str) -> Json:
        """Lists every endpoint of a site, best matches of the intent first."""
        return self.transport.call("GET", f"/v1/catalog/{segment(domain)}", query={"intent": intent})

    def fetch(
        self,
        site: str,
        endpoint: str,
        params: Optional[Mapping[str, Any]] = None,
        *,
        session_id: Optional[str] = None,
        idempotency_key: Optional[str] = None,
        **order: Any,
    ) -> Json:
        """Calls an endpoint: ``data`` is its result, ``meta`` has the charge.

        ``order`` has ``version``, ``timeout_ms``, ``max_results``, ``max_age``, ``dry_run`` and the other fields of the route's body.
        """
        timeout_ms = order.get("timeout_ms")
        return self.transport.call(
            "POST",
            "/v1/fetch",
            body={"site": site, "endpoint": endpoint, "params": dict(params or {}), **order},
            headers={} if session_id is None else {"x-service-session": session_id},
            timeout=None if timeout_ms is None else timeout_ms / 1000 + FETCH_GRACE,
            idempotency_key=idempotency_key,
        )

    def schemas(self, **query: Any) -> Iterator[Json]:
        """Cards of the registry: ``q``, ``category``, ``verified``, ``sort``."""
        return pages_of(self.transport, "/v1/schemas", query)

    def card(self, site: str) -> Json:
        return self._data(f"/v1/schemas/{segment(site)}")

    def package(self, site: str, *, version: Optional[str] = None, format: Optional[str] = None) -> Json:
        """The package of a site, or the site in another format."""
        answer = self.transport.call("GET", f"/v1/schemas/{segment(site)}/package", query={"version": version, "format": format})
        return answer["data"] if "data" in answer else answer

    def trending(self, window: str = "7d") -> Json:
        return self._data("/v1/trending", {"window": window})

    def categories(self) -> Any:
        return self._data("/v1/categories")

    def account(self) -> Json:
        """Plan, credits and limits of the key's account."""
        return self._data("/v1/account")

    def request_schema(self, **request: Any) -> Json:
        """Requests a schema for a missing site."""
        # Without an API key the server ignores Idempotency-Key.
        return self.transport.call("POST", "/v1/schema-requests", body=request, repeatable=self.transport.has_key)["data"]

    def publish(self, package: Mapping[str, Any], *, dry_run: bool = False) -> Json:
        """Publishes a package as the next version of its site."""
        return self.transport.call("POST", "/v1/schemas", query={"dry_run": dry_run or None}, body=dict(package))["data"]

    def _data(self, path: str, query: Optional[Mapping[str, Any]] = None) -> Any:
        return self.transport.call("GET", path, query=query)["data"]
