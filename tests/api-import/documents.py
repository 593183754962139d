"""The documents: read leniently, and rewritten for the judge."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import yaml

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")


def parsed(path: Path) -> Any:
    """A document as data: JSON where it is JSON, else YAML with its dates left as texts."""
    text = path.read_text(encoding="utf-8-sig")
    try:
        return json.loads(text)
    except ValueError:
        return yaml.load(text, Loader=Texts)


class Texts(yaml.CSafeLoader if hasattr(yaml, "CSafeLoader") else yaml.SafeLoader):
    """YAML as JSON knows it: a date is a text."""


Texts.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in Texts.yaml_implicit_resolvers.items()
}


def version(document: Any) -> str:
    if "swagger" in document:
        return "2.0"
    return "3.1" if str(document.get("openapi", "")).startswith("3.1") else "3.0"


def operations(document: Any, most: int) -> list[tuple[str, str]]:
    """Method and path of up to `most` operations, in the order of their hashes."""
    found = []
    for path, item in (document.get("paths") or {}).items():
        item = item if isinstance(item, dict) else {}
        if "$ref" in item:
            item = local(document, item["$ref"])
        for method in METHODS:
            if isinstance(item.get(method), dict):
                found.append((method.upper(), path))
    found.sort(key=lambda o: hashlib.sha256(f"{o[0]} {o[1]}".encode()).hexdigest())
    return found[:most]


def local(document: Any, reference: str) -> dict[str, Any]:
    value = document
    for part in reference.lstrip("#/").split("/"):
        value = value.get(part.replace("~1", "/").replace("~0", "~"), {}) if isinstance(value, dict) else {}
    return value if isinstance(value, dict) else {}


def for_the_judge(document: Any) -> Any:
    """A copy that the judge can use: without security, since several schemes at once cannot be met by one
    header, and credentials are tested apart; and, in Swagger 2.0, with the JSON that everybody understands
    where a body is declared and no media type is, since the judge takes that as "no body at all"."""
    copy = json.loads(json.dumps(document, default=str))
    copy.pop("security", None)
    for item in (copy.get("paths") or {}).values():
        for operation in item.values() if isinstance(item, dict) else []:
            if isinstance(operation, dict):
                operation.pop("security", None)
                if "swagger" in copy and not operation.get("consumes", copy.get("consumes")):
                    if not has_form(copy, item, operation):
                        operation["consumes"] = ["application/json"]
    return copy


def has_form(document: Any, item: dict[str, Any], operation: dict[str, Any]) -> bool:
    parameters = (item.get("parameters") or []) + (operation.get("parameters") or [])
    resolved = [local(document, p["$ref"]) if "$ref" in p else p for p in parameters if isinstance(p, dict)]
    return any(p.get("in") == "formData" for p in resolved)
