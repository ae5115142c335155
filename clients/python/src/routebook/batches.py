"""Many calls, paced by Routebook."""

from __future__ import annotations

import json
from typing import Any, Dict, Iterable, Iterator, Mapping, Optional

from .errors import RoutebookError
from .lists import Json, pages_of
from .transport import Transport, segment

#: Fields of items that can be set once as defaults.
DEFAULTS = ("site", "endpoint", "version", "timeout_ms", "max_results", "max_age", "connection")
#: Larger batches are sent as ndjson. A JSON body has at most 8 MiB.
MOST_AS_JSON = 10_000
MOST_JSON_BYTES = 8_000_000


class Batches:
    """Many calls, paced by Routebook."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def create(self, items: Iterable[Mapping[str, Any]], **batch: Any) -> Json:
        """Creates a batch. ``items`` are ``{params, custom_id?}``; ``batch`` may set ``site``, ``endpoint`` and other defaults for all items."""
        return self._order(items, batch, {})

    def dry_run(self, items: Iterable[Mapping[str, Any]], **batch: Any) -> Json:
        """Validates and prices all items and creates nothing."""
        return self._order(items, batch, {"dry_run": True})

    def get(self, batch_id: str, wait: int = 0) -> Json:
        return self._transport.call("GET", f"/v1/batches/{segment(batch_id)}", query={"wait": wait or None})["data"]

    def list(self, **query: Any) -> Iterator[Json]:
        return pages_of(self._transport, "/v1/batches", query)

    def results(self, batch_id: str, after: Optional[str] = None) -> Iterator[Json]:
        """Yields items in the order in which they end, until the batch has ended. ``after`` is the cursor of the last item read.

        :raises RoutebookError: ``BATCH_PAUSED`` if the batch is paused
        """
        path = f"/v1/batches/{segment(batch_id)}"
        while True:
            answer = self._transport.call("GET", f"{path}/results", query={"after": after, "limit": 1000})
            yield from answer["data"]
            after = answer["meta"]["pagination"]["next_cursor"]
            if after is None:
                return
            if not answer["data"]:
                batch = self.get(batch_id, wait=1)
                if batch["status"] == "paused" and batch["counts"]["running"] == 0:
                    raise _paused(batch)

    def run(self, items: Iterable[Mapping[str, Any]], **batch: Any) -> Iterator[Json]:
        """Creates a batch and yields each item when it ends."""
        return self.results(self.create(items, **batch)["batch_id"])

    def pause(self, batch_id: str) -> Json:
        return self._transport.call("POST", f"/v1/batches/{segment(batch_id)}/pause")["data"]

    def resume(self, batch_id: str, **limits: int) -> Json:
        """Resumes a batch with the rights of this key and optional new ``max_credits`` and ``stop_after_failures``."""
        return self._transport.call("POST", f"/v1/batches/{segment(batch_id)}/resume", body=limits)["data"]

    def cancel(self, batch_id: str) -> Json:
        return self._transport.call("DELETE", f"/v1/batches/{segment(batch_id)}")["data"]

    def retry(self, batch_id: str, codes: Optional[Iterable[str]] = None) -> Json:
        """Retries items that did not succeed: all, or those that failed with one of these codes."""
        body: Json = {} if codes is None else {"codes": list(codes)}
        return self._transport.call("POST", f"/v1/batches/{segment(batch_id)}/retry", body=body)["data"]

    def _order(self, items: Iterable[Mapping[str, Any]], batch: Dict[str, Any], query: Json) -> Json:
        key = batch.pop("idempotency_key", None)
        rows = [dict(item) for item in items]
        lines = [json.dumps(row) for row in rows]
        if len(rows) <= MOST_AS_JSON and sum(map(len, lines)) <= MOST_JSON_BYTES:
            defaults = {name: batch.pop(name) for name in DEFAULTS if name in batch}
            body: Any = {**batch, "defaults": defaults, "items": rows}
            return self._transport.call("POST", "/v1/batches", query=query, body=body, idempotency_key=key)["data"]
        # As ndjson, with the other fields in the query.
        metadata = batch.pop("metadata", None)
        text = None if metadata is None else json.dumps(metadata, separators=(",", ":"))
        return self._transport.call(
            "POST",
            "/v1/batches",
            query={**query, **batch, "metadata": text},
            body="\n".join(lines).encode(),
            headers={"content-type": "application/x-ndjson"},
            idempotency_key=key,
        )["data"]


def _paused(batch: Json) -> RoutebookError:
    reason = batch.get("paused_reason")
    why = "" if reason is None else f" ({reason})"
    return RoutebookError("BATCH_PAUSED", f"The batch {batch['batch_id']} is paused{why}: resume it, then follow it again.")
