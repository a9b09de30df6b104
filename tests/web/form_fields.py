"""The parameters that a page offers, by the address they go to: fields of its forms, and queries of its links."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import parse_qsl, urlsplit

JUNK = (
    "", "x", "-1", "0", "1", "99999999", "9" * 40, "-" + "9" * 40, "1.5", "1e400", "nan", "inf", "1,000", " 1 ", "\0",
    "a\0b", "٣", "²", "[/]", "<script>", "\u202e", "\U0001f600", "None", "true", "on", "{}", "a:b:c", "1-2", "9-1",
    "2024-99-99", "x" * 3_000, "%00", "../..", "' OR 1=1 --",
)  # fmt: skip
"""Values of a wrong type, or out of any range."""


@dataclass
class Fields:
    """Values by parameter name, for one path."""

    values: dict[str, list[str]] = field(default_factory=dict)

    def add(self, name: str, *values: str) -> None:
        known = self.values.setdefault(name, [])
        known += [value for value in values if value not in known and len(known) < 40]


class FormFields(HTMLParser):
    """Collects what a page's forms and links send: names, defaults, choices, and a step beyond min and max."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self.here = path
        self.found: dict[tuple[str, str], Fields] = {}
        self._form: tuple[str, str] = ("get", path)
        self._select = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            posts = "hx-post" in given or given.get("method", "").lower() == "post"
            address = given.get("hx-post") or given.get("hx-get") or given.get("action") or self.here
            self._form = ("post" if posts else "get", urlsplit(address).path or self.here)
        for name, method in (("href", "get"), ("hx-get", "get"), ("action", "get"), ("hx-post", "post")):
            self._link(given.get(name, ""), method)
        if tag == "select":
            self._select = given.get("name", "")
        elif tag == "option" and self._select:
            self._add(self._select, given.get("value", ""))
        elif given.get("name") and tag in {"input", "textarea", "button", "select"}:
            self._add(given["name"], given.get("value", ""))
            self._bounds(given)

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._form = ("get", self.here)
        if tag == "select":
            self._select = ""

    def _bounds(self, given: dict[str, str]) -> None:
        for key, step in (("min", -1), ("max", 1)):
            text = given.get(key, "")
            if text.lstrip("-").isdigit():
                self._add(given["name"], text, str(int(text) + step))

    def _link(self, address: str, method: str) -> None:
        parts = urlsplit(address)
        if not address.startswith("#") and not parts.scheme and not parts.netloc:
            fields = self.found.setdefault((method, parts.path or self.here), Fields())
            for name, value in parse_qsl(parts.query):
                fields.add(name, value)

    def _add(self, name: str, *values: str) -> None:
        self.found.setdefault(self._form, Fields()).add(name, *values)
