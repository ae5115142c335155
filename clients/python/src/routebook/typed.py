"""Runtime of generated functions: calls, and results in the types of the package."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Dict, Generic, Mapping, Optional, Type, TypeVar, Union, get_args, get_origin, get_type_hints

from .client import Routebook

Data = TypeVar("Data")


@dataclass
class Result(Generic[Data]):
    """The answer of a call."""

    data: Data
    #: The charge, the duration and whether there is more.
    meta: Dict[str, Any]
    #: The raw ``data``, including fields that the package does not name.
    raw: Any


def call(
    routebook: Routebook,
    site: str,
    endpoint: str,
    version: str,
    params: Mapping[str, Any],
    order: Optional[Mapping[str, Any]],
    kind: Type[Data],
) -> Result[Data]:
    """Fetches an endpoint. Params that are None are omitted. ``order`` has options such as ``max_results`` and ``timeout_ms``."""
    given = {name: value for name, value in params.items() if value is not None}
    answer = routebook.fetch(site, endpoint, given, version=version, **(order or {}))
    return Result(data=decode(kind, answer["data"]), meta=answer["meta"], raw=answer["data"])


def decode(kind: Any, value: Any) -> Any:
    """Converts JSON to the types of the package. Values that do not match stay as they are."""
    if dataclasses.is_dataclass(kind) and isinstance(value, dict):
        hints = get_type_hints(kind)
        fields = dataclasses.fields(kind)
        return kind(**{one.name: decode(hints[one.name], value.get(one.metadata.get("json", one.name))) for one in fields})
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is list and isinstance(value, list):
        return [decode(arguments[0], item) for item in value]
    if origin is dict and isinstance(value, dict):
        return {name: decode(arguments[1], item) for name, item in value.items()}
    if origin is Union:
        for choice in arguments:
            if _fits(choice, value):
                return decode(choice, value)
    return value


def _fits(kind: Any, value: Any) -> bool:
    if dataclasses.is_dataclass(kind):
        return isinstance(value, dict)
    origin = get_origin(kind)
    return (origin is list and isinstance(value, list)) or (origin is dict and isinstance(value, dict))
