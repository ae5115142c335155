"""Calls that are answered later."""

from __future__ import annotations

import time
from typing import Any, Iterator, Mapping, Optional

from .errors import RoutebookError, failure_of
from .lists import Json, pages_of
from .transport import Transport, segment

#: Seconds that one read waits for an end.
LONGEST_WAIT = 30
ENDED_JOB = frozenset(["succeeded", "failed", "cancelled", "expired"])


class Job:
    """A queued call; ``state`` is its last known state."""

    def __init__(self, transport: Transport, state: Json) -> None:
        self._transport = transport
        self.state = state

    @property
    def job_id(self) -> str:
        return str(self.state["job_id"])

    def refresh(self, wait: int = 0) -> "Job":
        """Reads the job again, waiting up to ``wait`` seconds for its end."""
        path = f"/v1/jobs/{segment(self.job_id)}"
        self.state = self._transport.call("GET", path, query={"wait": wait or None})["data"]
        return self

    def result(self, timeout: Optional[float] = None) -> Json:
        """Waits for the end and returns ``{data, meta}``, as a fetch would.

        :raises RoutebookError: if the job failed, was cancelled or expired, or did not end within ``timeout`` seconds
        """
        ends_at = None if timeout is None else time.monotonic() + timeout
        while self.state["status"] not in ENDED_JOB:
            left = LONGEST_WAIT if ends_at is None else min(LONGEST_WAIT, int(ends_at - time.monotonic()))
            if left <= 0:
                raise RoutebookError("TIMEOUT", f"{self.job_id} did not end in time; it goes on.", retryable=True)
            self.refresh(left)
        if self.state["status"] == "succeeded" and self.state["result"] is not None:
            return dict(self.state["result"])
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
        return pages_of(self._transport, "/v1/jobs", query, may_have_gaps=True)


def _error_of(job: Json) -> RoutebookError:
    """Why a job has no result."""
    error = job.get("error")
    if error is not None:
        return failure_of(error.get("status", 0), {"error": error}, None)
    why = "Its result is deleted." if job["status"] == "succeeded" else f"It is {job['status']}."
    return RoutebookError("NO_RESULT", f"The job {job['job_id']} has no result. {why}")
