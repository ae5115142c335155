"""Routebook's API, with blocking calls."""

from __future__ import annotations

import os
import time
from typing import Any, Dict, Iterable, Iterator, Mapping, Optional

from .errors import RoutebookError
from .transport import DEFAULT_RETRIES, DEFAULT_TIMEOUT, OnRetry, Transport, segment

Json = Dict[str, Any]

#: A fetch waits as long as its ``timeout_ms`` says, and the answer has to come back too.
FETCH_GRACE = 10.0
#: Seconds that the server holds a question until something ended.
LONGEST_WAIT = 30
ENDED_JOB = frozenset(["succeeded", "failed", "cancelled", "expired"])


class Routebook:
    """Each method answers with the body of the response, and raises :class:`RoutebookError`.

    :param base_url: where Routebook is; ``ROUTEBOOK_URL`` otherwise
    :param api_key: browsing needs none; ``ROUTEBOOK_API_KEY`` otherwise
    :param timeout: of a call with all its retries, in seconds
    :param on_retry: told the error and the seconds before each wait
    """

    def __init__(
        self,
        base_url: Optional[str] = None,
        api_key: Optional[str] = None,
        *,
        timeout: float = DEFAULT_TIMEOUT,
        max_retries: int = DEFAULT_RETRIES,
        on_retry: Optional[OnRetry] = None,
    ) -> None:
        self.transport = Transport(
            base_url or os.environ.get("ROUTEBOOK_URL") or "http://localhost:8080",
            api_key or os.environ.get("ROUTEBOOK_API_KEY") or None,
            timeout=timeout,
            max_retries=max_retries,
            on_retry=on_retry,
        )
        self.jobs = Jobs(self.transport)
        self.batches = Batches(self.transport)

    def find(self, task: str, **query: Any) -> Json:
        """Endpoints of all sites that fit a task, best first."""
        return self.transport.call("GET", "/v1/endpoints", query={"task": task, **query})

    def catalog(self, domain: str, intent: str) -> Json:
        """Every endpoint of a site, the best matches of the intent first."""
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
        """Lets Routebook call an endpoint: ``data`` is its result, ``meta`` says exactly what was charged.

        ``order`` takes ``version``, ``timeout_ms``, ``max_results``, ``max_age``, ``dry_run`` and the rest of the route's body.
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
        return _list(self.transport, "/v1/schemas", query)

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
        """Asks for a site that is missing."""
        return self.transport.call("POST", "/v1/schema-requests", body=request)["data"]

    def publish(self, package: Mapping[str, Any], *, dry_run: bool = False) -> Json:
        """Publishes a package as the next version of its site."""
        return self.transport.call("POST", "/v1/schemas", query={"dry_run": dry_run or None}, body=dict(package))["data"]

    def _data(self, path: str, query: Optional[Mapping[str, Any]] = None) -> Any:
        return self.transport.call("GET", path, query=query)["data"]


class Job:
    """A call that is answered later; ``state`` is what was last known of it."""

    def __init__(self, transport: Transport, state: Json) -> None:
        self._transport = transport
        self.state = state

    @property
    def job_id(self) -> str:
        return str(self.state["job_id"])

    def refresh(self, wait: int = 0) -> "Job":
        """What is known now, or as soon as it ends within ``wait`` seconds."""
        path = f"/v1/jobs/{segment(self.job_id)}"
        self.state = self._transport.call("GET", path, query={"wait": wait or None})["data"]
        return self

    def result(self, timeout: Optional[float] = None) -> Json:
        """Waits for the end: ``{data, meta}`` as a fetch would have answered.

        :raises RoutebookError: where the job failed, was cancelled or expired, or ``timeout`` seconds were over
        """
        ends_at = None if timeout is None else time.monotonic() + timeout
        while self.state["status"] not in ENDED_JOB:
            left = LONGEST_WAIT if ends_at is None else min(LONGEST_WAIT, int(ends_at - time.monotonic()))
            if left <= 0:
                raise RoutebookError("TIMEOUT", f"{self.job_id} did not end in time; it goes on.", retryable=True)
            self.refresh(left)
        if self.state["status"] == "succeeded":
            return dict(self.state["result"] or {})
        raise _error_of(self.state)

    def cancel(self) -> "Job":
        self.state = self._transport.call("DELETE", f"/v1/jobs/{segment(self.job_id)}")["data"]
        return self


class Jobs:
    """Calls that are answered later."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def create(self, site: str, endpoint: str, params: Optional[Mapping[str, Any]] = None, **order: Any) -> Job:
        idempotency_key = order.pop("idempotency_key", None)
        body = {"site": site, "endpoint": endpoint, "params": dict(params or {}), **order}
        return Job(self._transport, self._transport.call("POST", "/v1/jobs", body=body, idempotency_key=idempotency_key)["data"])

    def get(self, job_id: str) -> Job:
        return Job(self._transport, self._transport.call("GET", f"/v1/jobs/{segment(job_id)}")["data"])

    def list(self, **query: Any) -> Iterator[Json]:
        return _list(self._transport, "/v1/jobs", query)


class Batches:
    """Many calls, paced by Routebook."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def create(self, items: Iterable[Mapping[str, Any]], **batch: Any) -> Json:
        """``items`` are ``{params, custom_id?}``; ``site``, ``endpoint`` and other defaults of items may stand once, in ``batch``."""
        idempotency_key = batch.pop("idempotency_key", None)
        names = ("site", "endpoint", "version", "timeout_ms", "max_results", "max_age")
        defaults = {name: batch.pop(name) for name in names if name in batch}
        body = {**batch, "defaults": defaults, "items": [dict(item) for item in items]}
        return self._transport.call("POST", "/v1/batches", body=body, idempotency_key=idempotency_key)["data"]

    def get(self, batch_id: str, wait: int = 0) -> Json:
        return self._transport.call("GET", f"/v1/batches/{segment(batch_id)}", query={"wait": wait or None})["data"]

    def list(self, **query: Any) -> Iterator[Json]:
        return _list(self._transport, "/v1/batches", query)

    def results(self, batch_id: str, after: Optional[str] = None) -> Iterator[Json]:
        """Items in the order of their ends, until the whole batch ended; a reader that broke off goes on at ``after``."""
        path = f"/v1/batches/{segment(batch_id)}"
        while True:
            answer = self._transport.call("GET", f"{path}/results", query={"after": after, "limit": 1000})
            yield from answer["data"]
            cursor = answer["meta"]["pagination"]["next_cursor"]
            if cursor is None:
                return
            if cursor == after or not answer["data"]:
                self.get(batch_id, wait=1)
            after = cursor

    def run(self, items: Iterable[Mapping[str, Any]], **batch: Any) -> Iterator[Json]:
        """Starts a batch and yields each item as it ends."""
        return self.results(self.create(items, **batch)["batch_id"])

    def cancel(self, batch_id: str) -> Json:
        return self._transport.call("DELETE", f"/v1/batches/{segment(batch_id)}")["data"]

    def retry(self, batch_id: str, codes: Optional[Iterable[str]] = None) -> Json:
        body: Json = {} if codes is None else {"codes": list(codes)}
        return self._transport.call("POST", f"/v1/batches/{segment(batch_id)}/retry", body=body)["data"]


def _list(transport: Transport, path: str, query: Mapping[str, Any]) -> Iterator[Json]:
    """Reads page by page, no further than somebody looks."""
    cursor: Optional[str] = None
    while True:
        answer = transport.call("GET", path, query={**query, "cursor": cursor})
        yield from answer["data"]
        cursor = answer["meta"]["pagination"]["next_cursor"]
        if cursor is None:
            return


def _error_of(job: Json) -> RoutebookError:
    error = job.get("error") or {"code": job["status"].upper(), "message": f"The job is {job['status']}."}
    known = {name: error[name] for name in ("status", "fault", "retryable", "retry_after", "details", "doc_url", "upstream") if name in error}
    return RoutebookError(error["code"], error["message"], **known)
