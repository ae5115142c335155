"""Lists of the API."""

from __future__ import annotations

from typing import Any, Dict, Iterator, Mapping, Optional

from .errors import RoutebookError
from .transport import Transport

Json = Dict[str, Any]

# Maximum number of pages of one list. Nobody waits for so many, so such a list is taken for one without end.
MAX_PAGES = 100_000


def pages_of(transport: Transport, path: str, query: Mapping[str, Any], may_have_gaps: bool = False) -> Iterator[Json]:
    """Yields the items of a list, reading pages lazily.

    :param may_have_gaps: an empty page is not always the last
    :raises RoutebookError: ``INVALID_ANSWER`` if the list does not end
    """
    cursor: Optional[str] = None
    for _ in range(MAX_PAGES):
        answer = transport.call("GET", path, query={**query, "cursor": cursor})
        yield from answer["data"]
        last, cursor = cursor, answer["meta"]["pagination"]["next_cursor"]
        if cursor is None:
            return
        if cursor == last or not (answer["data"] or may_have_gaps):
            break
    raise RoutebookError("INVALID_ANSWER", "The list in the answers does not end.")
