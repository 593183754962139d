"""Arguments made from a JSON Schema, and arguments that the same schema must refuse.

Knows schemas only: nothing of the documents they come from, or of who is measured.
"""

from __future__ import annotations

import json
import random
import re
from typing import Any, Callable, Iterator

import rstr

# "Everything" goes this deep; below it, only what is required.
FULL_DEPTH = 2
# References are followed this deep before the smallest value that fits is taken.
MAX_DEPTH = 8

FORMATS = {
    "date": "2024-05-01",
    "date-time": "2024-05-01T12:00:00Z",
    "time": "12:00:00Z",
    "duration": "P1D",
    "email": "someone@example.com",
    "idn-email": "someone@example.com",
    "hostname": "example.com",
    "idn-hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ip": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.com/a",
    "url": "https://example.com/a",
    "iri": "https://example.com/a",
    "uri-reference": "https://example.com/a",
    "uri-template": "https://example.com/a",
    "uuid": "123e4567-e89b-42d3-a456-426614174000",
    "byte": "aGVsbG8=",
    "base64": "aGVsbG8=",
    "binary": "aGVsbG8=",
    "json-pointer": "/a",
    "relative-json-pointer": "0",
    "regex": "a+",
}


class Generator:
    """Makes values for one schema and whatever it refers to."""

    def __init__(self, root: Any) -> None:
        self.root = root

    def arguments(self, everything: bool) -> dict[str, Any]:
        """Arguments with the required members only, or with everything to a depth."""
        value = self.value(self.root, 0, everything)
        return value if isinstance(value, dict) else {}

    def value(self, schema: Any, depth: int, everything: bool) -> Any:
        schema = self.resolved(schema, depth)
        if schema is True or schema == {}:
            return "text"
        if schema is False:
            return None
        for constant in ("const",):
            if constant in schema:
                return schema[constant]
        if isinstance(schema.get("enum"), list) and schema["enum"]:
            return next((v for v in schema["enum"] if v is not None), schema["enum"][0])
        make: dict[str, Callable[..., Any]] = {
            "object": self.object,
            "array": self.array,
            "string": lambda s, d, e: text(s),
            "integer": lambda s, d, e: number(s, whole=True),
            "number": lambda s, d, e: number(s, whole=False),
            "boolean": lambda s, d, e: True,
            "null": lambda s, d, e: None,
        }
        return make[kind(schema)](schema, depth, everything)

    def object(self, schema: dict[str, Any], depth: int, everything: bool) -> dict[str, Any]:
        properties = schema.get("properties") or {}
        required = [name for name in schema.get("required") or [] if isinstance(name, str)]
        wanted = list(required)
        if everything and depth < FULL_DEPTH:
            wanted += [name for name in properties if name not in wanted]
        extra = schema.get("additionalProperties")
        value = {}
        for name in wanted:
            member = properties.get(name, extra if isinstance(extra, dict) else {})
            if depth >= MAX_DEPTH and name not in required:
                continue
            if member is False:
                continue
            value[name] = self.value(member, depth + 1, everything)
        while len(value) < (schema.get("minProperties") or 0):
            name = f"key{len(value)}"
            value[name] = self.value(extra if isinstance(extra, dict) else {}, depth + 1, everything)
        return value

    def array(self, schema: dict[str, Any], depth: int, everything: bool) -> list[Any]:
        prefix = schema.get("prefixItems") or []
        items = schema.get("items", {})
        least = schema.get("minItems") or 0
        count = max(least, 0 if depth >= MAX_DEPTH else 1)
        most = schema.get("maxItems")
        if isinstance(most, int):
            count = min(count, most)
        values = [self.value(s, depth + 1, everything) for s in prefix[: max(count, least)]]
        while len(values) < count and items is not False:
            value = self.value(items, depth + 1, everything)
            if schema.get("uniqueItems") and value in values:
                value = self.another(items, value, len(values))
            values.append(value)
        return values

    def another(self, schema: Any, value: Any, i: int) -> Any:
        """A value that differs from its neighbours, where items must."""
        schema = self.resolved(schema, 0)
        if isinstance(schema, dict) and isinstance(schema.get("enum"), list):
            return schema["enum"][i % len(schema["enum"])]
        if isinstance(value, bool):
            return not value
        if isinstance(value, (int, float)):
            return value + i
        if isinstance(value, str):
            return f"{value}{i}"
        if isinstance(value, dict):
            for name, member in value.items():
                if isinstance(member, (str, int, float)) and not isinstance(member, bool):
                    return {**value, name: f"{member}{i}" if isinstance(member, str) else member + i}
        return value

    def resolved(self, schema: Any, depth: int) -> Any:
        """One schema without references and combinations: the first branch that can be taken."""
        seen = 0
        while isinstance(schema, dict):
            seen += 1
            if seen > 30:
                return {}
            if "$ref" in schema:
                target = pointed(self.root, schema["$ref"])
                rest = {k: v for k, v in schema.items() if k != "$ref"}
                schema = merged(target, rest) if rest else target
                continue
            if schema.get("allOf"):
                parts = [self.resolved(part, depth) for part in schema["allOf"]]
                schema = {k: v for k, v in schema.items() if k != "allOf"}
                for part in parts:
                    schema = merged(schema, part)
                continue
            branch = self.branch(schema, depth)
            if branch is None:
                return schema
            schema = branch
        return schema

    def branch(self, schema: dict[str, Any], depth: int) -> Any:
        for keyword in ("oneOf", "anyOf"):
            branches = schema.get(keyword)
            if not branches:
                continue
            rest = {k: v for k, v in schema.items() if k != keyword}
            real = [b for b in branches if not is_null(self.resolved(b, depth))] or branches
            # Deep down, the branch that asks for least.
            if depth >= FULL_DEPTH:
                real = sorted(real, key=lambda b: weight(self.resolved(b, depth)))
            return merged(rest, self.resolved(real[0], depth))
        return None


def kind(schema: dict[str, Any]) -> str:
    given = schema.get("type")
    if isinstance(given, list):
        given = next((t for t in given if t != "null"), "null")
    if given in ("object", "array", "string", "integer", "number", "boolean", "null"):
        return given
    if "properties" in schema or "additionalProperties" in schema or "required" in schema:
        return "object"
    if "items" in schema or "prefixItems" in schema:
        return "array"
    if any(k in schema for k in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")):
        return "number"
    return "string"


def text(schema: dict[str, Any]) -> str:
    least, most = schema.get("minLength") or 0, schema.get("maxLength")
    pattern = schema.get("pattern")
    if isinstance(pattern, str):
        found = from_pattern(pattern, least, most)
        if found is not None:
            return found
    value = FORMATS.get(schema.get("format"), "text")
    if len(value) < least:
        value = (value * (least // max(len(value), 1) + 1))[:least]
    if isinstance(most, int) and len(value) > most:
        value = value[:most]
    return value


def from_pattern(pattern: str, least: int, most: int | None) -> str | None:
    try:
        compiled = re.compile(pattern)
    except re.error:
        # Flags in the middle are other languages' way to write what the whole may as well be.
        if "(?i)" in pattern:
            return from_pattern(pattern.replace("(?i)", ""), least, most)
        return None
    fits = lambda t: compiled.search(t) and least <= len(t) and (most is None or len(t) <= most)
    length = max(least, 4)
    for candidate in ("text", "a", "1", "A1", "text" * 16, "2024-05-01", "x" * length, "1" * length, "A" * length):
        if fits(candidate):
            return candidate
    maker = rstr.Rstr(random.Random(7))
    maker.STAR_PLUS_LIMIT = 10
    for _ in range(60):
        try:
            candidate = maker.xeger(pattern)
        except Exception:
            return None
        if fits(candidate):
            return candidate
    return None


def number(schema: dict[str, Any], whole: bool) -> Any:
    low, high = schema.get("minimum"), schema.get("maximum")
    above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    step = schema.get("multipleOf")
    value: Any = 1
    if is_number(low):
        value = max(value, low)
    if is_number(above) and value <= above:
        value = above + 1
    if is_number(high):
        value = min(value, high)
    if is_number(below) and value >= below:
        value = below - 1
    if whole:
        value = int(value)
        if is_number(low) and value < low:
            value += 1
    if is_number(step) and step > 0:
        value = max(step, (value // step) * step)
    return value


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_null(schema: Any) -> bool:
    return isinstance(schema, dict) and (schema.get("type") == "null" or schema.get("enum") == [None])


def weight(schema: Any) -> int:
    return len(json.dumps(schema, default=str)) if isinstance(schema, dict) else 0


def pointed(root: Any, reference: str) -> Any:
    """What a local reference points at; everything fits where it points at nothing."""
    if not isinstance(reference, str) or not reference.startswith("#"):
        return {}
    value = root
    for part in reference[1:].split("/")[1:]:
        part = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict):
            value = value.get(part, {})
        elif isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        else:
            return {}
    return value


def merged(one: Any, other: Any) -> Any:
    """Both schemas at once, as far as a generator needs it."""
    if not isinstance(one, dict):
        return other
    if not isinstance(other, dict):
        return one
    both = dict(one)
    for key, value in other.items():
        if key == "properties" and isinstance(both.get(key), dict):
            properties = dict(both[key])
            for name, member in value.items():
                properties[name] = {"allOf": [properties[name], member]} if name in properties else member
            both[key] = properties
        elif key == "required" and isinstance(both.get(key), list):
            both[key] = both[key] + [name for name in value if name not in both[key]]
        elif key == "allOf" and isinstance(both.get(key), list):
            both[key] = both[key] + value
        elif key == "enum" and isinstance(both.get(key), list):
            both[key] = [v for v in both[key] if v in value] or value
        elif key in ("description", "title", "examples") and key in both:
            continue
        else:
            both[key] = value
    return both


def mutations(root: Any, arguments: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Arguments that are wrong in one place: a required member dropped, a wrong type, a value outside an enum."""
    generator = Generator(root)
    properties = root.get("properties") or {} if isinstance(root, dict) else {}
    for name in root.get("required") or []:
        if name in arguments:
            yield f"without {name}", {k: v for k, v in arguments.items() if k != name}
    for name in arguments:
        if name not in properties:
            continue
        schema = generator.resolved(properties[name], FULL_DEPTH)
        if not isinstance(schema, dict) or combines(root, properties[name]):
            continue
        if isinstance(schema.get("enum"), list) and all(isinstance(v, str) for v in schema["enum"]):
            yield f"{name} outside its enum", {**arguments, name: "not-one-of-them"}
        wrong = wrong_type(schema)
        if wrong is not None:
            yield f"{name} of a wrong type", {**arguments, name: wrong}


def combines(root: Any, schema: Any) -> bool:
    """Whether several branches may take a value: what one refuses, another may accept."""
    text = json.dumps(schema)
    if "$ref" in text:
        text += json.dumps(pointed(root, schema.get("$ref", "#"))) if isinstance(schema, dict) else ""
    return '"oneOf"' in text or '"anyOf"' in text


def wrong_type(schema: dict[str, Any]) -> Any:
    types = schema.get("type")
    if types is None:
        return None
    types = [types] if isinstance(types, str) else types
    # Texts that parse as what is wanted are repaired on purpose; these do not.
    for name, wrong in (("object", {"no": ["such"]}), ("string", "no such thing"), ("boolean", True), ("array", [[]])):
        if name not in types and not (name == "string" and set(types) <= {"null"}):
            return wrong
    return None
