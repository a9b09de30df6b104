"""The made-up shop that the demo session works on, generated from short word lists, and what tools answer about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sessions.engine.base.words import words
from sessions.engine.demo.png import screenshot
from sessions.engine.tokens.estimators._images import tokens_of_size

if TYPE_CHECKING:
    import random

Block = dict[str, Any]
LARGE, SMALL = (1254, 1254), (375, 667)
SCREENSHOT_BASE64, SMALL_BASE64 = 3_118_884, 87_212
IMAGE_WRAPPER = 22
IMAGE_TOKENS = {
    length: tokens_of_size(*size, "high-res") + IMAGE_WRAPPER
    for size, length in ((LARGE, SCREENSHOT_BASE64), (SMALL, SMALL_BASE64))
}
"""What a picture costs, by the length of its base64."""
READS = {"r": "tsx", "c": "css", "t": "test", "l": "json"}
PARTS = {"tsx": (2, 4), "css": (4, 8), "test": (3, 5), "json": (10, 18)}
GROWN = 6
"""How much longer results are in the second half of the story: whole files, whole logs."""
LONG_LOG = 212
ROOT = "/home/mira/code/lantern-shop"
LOCKFILE = f"{ROOT}/package-lock.json"
COMPONENTS = words("""
    CheckoutPage PayBar OrderSummary CartLine VoucherField AddressForm DeliveryPicker WalletButton PriceTag
    StickyFooter KeyboardSpacer ErrorNote ProgressSteps TotalRow GiftNote
""")
_STATES = ("amount", "voucher", "slot", "country", "isBusy", "problem", "height", "visible", "retries", "currency")
_VERBS = ("apply", "clear", "submit", "measure", "restore", "confirm", "reveal", "announce")
_TAGS = ("section", "div", "footer", "aside", "form")
_PROPERTIES = (
    "padding: {a}px {b}px", "margin-block: {a}px", "gap: {b}px", "min-height: {c}px", "border-radius: {a}px",
    "font-size: {f}rem", "inset-inline: 0", "z-index: {z}", "display: grid", "position: relative",
    "background: var(--surface-{z})", "color: var(--ink-{z})", "box-shadow: 0 {a}px {c}px rgb(0 0 0 / {z}%)",
)  # fmt: skip


def path_of(component: str, kind: str = "tsx") -> str:
    """Where a component's source, style sheet or test lies."""
    folder = {"tsx": "src/checkout", "css": "src/checkout", "test": "tests/checkout", "json": "locales/checkout"}[kind]
    ending = {"tsx": ".tsx", "css": ".module.css", "test": ".spec.ts", "json": ".json"}[kind]
    return f"{ROOT}/{folder}/{component}{ending}"


def source(component: str, kind: str, rng: random.Random, size: int) -> list[str]:
    """Lines of a file; ``size`` is how many parts (handlers, rules, cases, keys) it has."""
    return {"tsx": _component, "css": _style, "test": _test, "json": _locale}[kind](component, rng, size)


def numbered(lines: list[str], first: int = 1) -> str:
    """Lines as a read tool prints them."""
    return "\n".join(f"{number:6}\u2192{line}" for number, line in enumerate(lines, first))


def _component(name: str, rng: random.Random, size: int) -> list[str]:
    other = rng.sample([c for c in COMPONENTS if c != name], 2)
    states = rng.sample(_STATES, min(size, len(_STATES)))
    lines = ["import { useCallback, useEffect, useRef, useState } from 'react';"]
    lines += [f"import {{ {c} }} from './{c}';" for c in other]
    lines += [f"import styles from './{name}.module.css';", "", f"export interface {name}Props {{"]
    lines += [f"  {state}: {rng.choice(('number', 'string', 'boolean'))};" for state in states[:4]]
    lines += ["  onDone(result: CheckoutResult): void;", "}", "", f"export function {name}(props: {name}Props) {{"]
    lines += [f"  const [{s}, set{s[0].upper()}{s[1:]}] = useState(props.{s} ?? null);" for s in states[:3]]
    lines += ["  const box = useRef<HTMLDivElement>(null);", ""]
    for number in range(size):
        verb, state = rng.choice(_VERBS), states[number % len(states)]
        lines += [
            f"  const {verb}{state[0].upper()}{state[1:]} = useCallback(async () => {{",
            f"    if ({state} === null || props.{states[0]} < {rng.randint(1, 90)}) return;",
            f"    const reply = await api.post('/checkout/{verb}/{number}', {{ {state}, step: {rng.randint(1, 9)} }});",
            f"    if (!reply.ok) throw new CheckoutError('{verb} failed', {{ status: reply.status }});",
            f"    props.onDone({{ kind: '{verb}', value: reply.body.{state} }});",
            f"  }}, [{state}, props]);",
            "",
        ]
    tag = rng.choice(_TAGS)
    lines += [f"  return (<{tag} ref={{box}} className={{styles.root}}>", f"    <{other[0]} busy={{!!{states[0]}}} />"]
    return [*lines, f"    <{other[1]} label={{t('{name.lower()}.title')}} />", f"  </{tag}>);", "}"]


def _style(name: str, rng: random.Random, size: int) -> list[str]:
    lines = [f"/* {name}: spacing follows the 4 px grid */"]
    for number in range(size):
        selector = ".root" if number == 0 else f".{rng.choice(_VERBS)}{rng.choice(('Row', 'Label', 'Button', 'Box'))}"
        lines.append(f"{selector} {{")
        for rule in rng.sample(_PROPERTIES, 5):
            values = {"a": rng.choice((4, 8, 12)), "b": rng.choice((8, 16, 20)), "c": rng.choice((44, 48, 56))}
            lines.append(f"  {rule.format(**values, f=rng.choice((0.875, 1, 1.125)), z=rng.randint(1, 12))};")
        lines.append("}")
    return lines


def _test(name: str, rng: random.Random, size: int) -> list[str]:
    lines = ["import { expect, test } from '@playwright/test';", "", f"test.describe('{name}', () => {{"]
    for _ in range(size):
        verb, width = rng.choice(_VERBS), rng.choice((320, 375, 390, 414, 768))
        total = f"{rng.randint(3, 90)}.{rng.randint(10, 99)}"
        lines += [
            f"  test('can {verb} at {width} px', async ({{ page }}) => {{",
            f"    await page.setViewportSize({{ width: {width}, height: {rng.choice((568, 667, 844, 896))} }});",
            f"    await page.goto('/checkout?basket={rng.randint(1000, 9999)}');",
            f"    await page.getByRole('button', {{ name: /{verb}/i }}).click();",
            f"    await expect(page.getByTestId('{name.lower()}-total')).toHaveText('{total}');",
            "  });",
        ]
    return [*lines, "});"]


def _locale(name: str, rng: random.Random, size: int) -> list[str]:
    keys = [
        f'  "{name.lower()}.{rng.choice(_VERBS)}{number}": "{rng.choice(_STATES)} {rng.choice(_VERBS)}",'
        for number in range(size)
    ]
    return ["{", *keys, f'  "{name.lower()}.title": "{name}"', "}"]


def grep(word: str, rng: random.Random, size: int) -> str:
    """Hits of a search, path:line:text."""
    hits = []
    for _ in range(size):
        component, kind = rng.choice(COMPONENTS), rng.choice(("tsx", "css", "test"))
        line = rng.choice(source(component, kind, rng, 3))
        hits.append(f"{path_of(component, kind).removeprefix(ROOT + '/')}:{rng.randint(2, 240)}:{line} // {word}")
    return "\n".join(hits)


def test_log(rng: random.Random, size: int, failing: int) -> str:
    """What the end-to-end runner prints."""
    lines = [f"> lantern-shop@4.{rng.randint(2, 30)}.0 test:e2e", "> playwright test --project=phone", ""]
    for number in range(size):
        name, width = rng.choice(COMPONENTS), rng.choice((320, 375, 390, 414))
        mark, took = ("x" if number < failing else "ok"), rng.randint(240, 5200)
        verb = rng.choice(_VERBS)
        lines.append(
            f"  {mark:>2} {number + 1} [phone] {name}.spec.ts:{rng.randint(5, 90)} can {verb} at {width} px ({took}ms)"
        )
    for _ in range(failing):
        top = rng.randint(560, 620)
        lines += [
            "", f"    Error: expected the total above the pay bar: bottom {top + 31}, pay bar top {top}",
            f"      at boxesApart (tests/checkout/layout.ts:{rng.randint(10, 60)}:11)",
            "      at tests/checkout/PayBar.spec.ts:48:5",
        ]  # fmt: skip
    return "\n".join(
        [*lines, "", f"  {failing} failed, {size - failing} passed ({rng.randint(11, 58)}.{rng.randint(0, 9)}s)"]
    )


def git_log(rng: random.Random, size: int) -> str:
    """Commits, newest first."""
    lines = []
    for _ in range(size):
        change = f"{rng.choice(_VERBS)} {rng.choice(_STATES)} in {rng.choice(COMPONENTS)}"
        lines.append(f"{rng.getrandbits(28):07x} {change} (#{rng.randint(300, 990)})")
    return "\n".join(lines)


class Tools:
    """The tools, with the story's own source of chance."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._scale = 1

    def grow(self) -> None:
        """From here on results are longer."""
        self._scale = GROWN

    def component(self, likely: str) -> str:
        """The component that a step is about: the task's own, or another."""
        return likely if self._rng.random() < 0.4 else self._rng.choice(COMPONENTS)

    def use(self, component: str, kind: str) -> tuple[str, Block, Any]:
        """A call's tool, its arguments and its result."""
        rng, scale = self._rng, self._scale
        if kind in READS:
            low, high = PARTS[READS[kind]]
            lines = source(component, READS[kind], rng, rng.randint(low, high) * scale)
            return "Read", {"file_path": path_of(component, READS[kind])}, numbered(lines)
        if kind == "g":
            word = rng.choice(("position: fixed", "safe-area-inset", "useLayoutEffect", "z-index", "StickyFooter"))
            arguments = {"pattern": word, "path": f"{ROOT}/src", "output_mode": "content"}
            return "Grep", arguments, grep(word, rng, rng.randint(8, 19) * scale)
        if kind in "bB":
            size = LONG_LOG if kind == "B" else rng.randint(10, 27) * scale
            command = "npx playwright test --project=phone --reporter=list"
            log = test_log(rng, size, rng.choice((0, 0, 1, 3)))
            return "Bash", {"command": command, "description": "Run the phone tests"}, log
        if kind == "h":
            command = f"git log --oneline -25 -- {path_of(component).removeprefix(ROOT + '/')}"
            return "Bash", {"command": command, "description": "Recent commits"}, git_log(rng, 25)
        return {"e": self._edit, "k": self._pin}.get(kind, self._picture)(component if kind in "ek" else kind)

    def _edit(self, component: str) -> tuple[str, Block, Any]:
        lines = source(component, "css", self._rng, 4)
        old, new = "\n".join(lines[1:8]), "\n".join([*lines[1:5], "  grid-template-rows: 1fr auto;", *lines[5:8]])
        path = path_of(component, "css")
        result = f"The file {path} has been updated. Here is the part that changed:\n{numbered(new.splitlines(), 2)}"
        return "Edit", {"file_path": path, "old_string": old, "new_string": new}, result

    def _pin(self, component: str) -> tuple[str, Block, Any]:
        """The edit that the rule forbids."""
        old, new = '"lantern-icons": "^4.2.0"', '"lantern-icons": "4.1.7"'
        result = f"The file {LOCKFILE} has been updated: {component} takes lantern-icons 4.1.7."
        return "Edit", {"file_path": LOCKFILE, "old_string": old, "new_string": new}, result

    def _picture(self, kind: str) -> tuple[str, Block, Any]:
        size, length, bits = (LARGE, SCREENSHOT_BASE64, 8) if kind == "S" else (SMALL, SMALL_BASE64, 2)
        arguments = {"url": "http://localhost:5173/checkout?voucher=open", "width": size[0], "height": size[1]}
        note = {"type": "text", "text": f"Screenshot taken, {size[0]} x {size[1]} pixels."}
        data = screenshot(*size, length, self._rng.randint(1, 9_999), bits=bits)
        picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}
        return "mcp__browser__screenshot", arguments, [note, picture]
