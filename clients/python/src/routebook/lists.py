"""Lists of the API."""

from __future__ import annotations

from typing import Any, Dict, Iterator, Mapping, Optional

from .transport import Transport

Json = Dict[str, Any]


def pages_of(transport: Transport, path: str, query: Mapping[str, Any]) -> Iterator[Json]:
    """Yields the items of a list, reading pages lazily."""
    cursor: Optional[str] = None
    while True:
        answer = transport.call("GET", path, query={**query, "cursor": cursor})
        yield from answer["data"]
        cursor = answer["meta"]["pagination"]["next_cursor"]
        if cursor is None:
            return
