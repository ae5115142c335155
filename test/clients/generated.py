"""Calls each generated function with the params of an example, and says what came back in the types of the package."""

import dataclasses
import importlib.util
import json
import sys
from typing import Any, Dict

given = json.loads(sys.stdin.read())


class Answering:
    """Stands for the client: answers what the fixture says, and remembers what it was asked."""

    def __init__(self, data: Any) -> None:
        self.data, self.asked = data, {}  # type: Any, Dict[str, Any]

    def fetch(self, site: str, endpoint: str, params: Dict[str, Any], **order: Any) -> Dict[str, Any]:
        self.asked = {"site": site, "endpoint": endpoint, "params": params, **order}
        return {"data": self.data, "meta": {"credits_used": 1}}


def load(path: str) -> Any:
    spec = importlib.util.spec_from_file_location(path.rsplit("/", 1)[-1][:-3], path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def plain(value: Any) -> Any:
    """Dataclasses as the JSON they came from."""
    if dataclasses.is_dataclass(value):
        return {field.metadata.get("json", field.name): plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    return value


results = []
for file in given:
    module = load(file["path"])
    for sample in file["samples"]:
        client = Answering(sample["data"])
        result = getattr(module, sample["function"])(client, **sample["arguments"])
        results.append({"function": sample["function"], "asked": client.asked, "raw": result.raw, "typed": plain(result.data)})
print(json.dumps(results))
