"""The made-up shop that the demo session works on: sources, listings and logs, all generated from short word lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions.engine.base.words import words

if TYPE_CHECKING:
    import random

ROOT = "/home/mira/code/lantern-shop"
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
