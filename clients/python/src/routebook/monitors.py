"""Calls on a schedule, which tell when their results change."""

from __future__ import annotations

from typing import Any, Iterator, Mapping, Optional

from .jobs import Job
from .lists import Json, pages_of
from .transport import Transport, segment


class Monitors:
    """Calls on a schedule, which tell when their results change."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def create(self, site: str, endpoint: str, params: Optional[Mapping[str, Any]] = None, **order: Any) -> Json:
        """Creates a monitor. ``order`` has exactly one of ``every`` and ``cron``, and the other fields of the route's body, such as ``watch``.

        The first run stores the base value and reports no change.
        """
        body = {"site": site, "endpoint": endpoint, "params": dict(params or {}), **order}
        # Not repeatable: sent twice, it creates two monitors.
        return self._transport.call("POST", "/v1/monitors", body=body, repeatable=False)["data"]

    def list(self, **query: Any) -> Iterator[Json]:
        return pages_of(self._transport, "/v1/monitors", query)

    def get(self, monitor_id: str) -> Json:
        return self._transport.call("GET", _path(monitor_id))["data"]

    def update(self, monitor_id: str, **changes: Any) -> Json:
        """Changes a monitor. Omitted fields are unchanged; None removes a value. Later runs have the rights of this key."""
        return self._transport.call("PATCH", _path(monitor_id), body=changes)["data"]

    def pause(self, monitor_id: str) -> Json:
        return self.update(monitor_id, status="paused")

    def resume(self, monitor_id: str) -> Json:
        return self.update(monitor_id, status="active")

    def delete(self, monitor_id: str) -> Json:
        """Deletes a monitor with its runs and changes."""
        return self._transport.call("DELETE", _path(monitor_id))["data"]

    def run(self, monitor_id: str) -> Job:
        """Runs it now and returns the job of the run, or of a run that has not ended."""
        return Job(self._transport, self._transport.call("POST", f"{_path(monitor_id)}/run", repeatable=False)["data"])

    def changes(self, monitor_id: str) -> Iterator[Json]:
        """Changes, newest first; the latest 100 are kept."""
        return pages_of(self._transport, f"{_path(monitor_id)}/changes", {})

    def runs(self, monitor_id: str) -> Iterator[Json]:
        """Runs, newest first; the latest 100 are kept."""
        return pages_of(self._transport, f"{_path(monitor_id)}/runs", {})


def _path(monitor_id: str) -> str:
    return f"/v1/monitors/{segment(monitor_id)}"
