"""Writes the demo: our own generated session of buzz-agent, as it was before it charged images a flat size (seeds 2.1).

179 messages.  At message 37 stands a real 1254 x 1254 PNG whose base64 is 3,118,884 characters long and which costs
2,025 tokens; buzz-agent took each of its bytes for a token, so it handed off at request 18 though nothing was full.  At
request 78 it handed off because its threshold was truly reached.  Written in ctxweb's own lines, which can say what an
agent counted.  Everything follows from one seed: the same bytes on every run.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, BinaryIO

from sessions.engine.demo.files import IMAGE_TOKENS, Block, Tools
from sessions.engine.tokens.tokenizer import count

TITLE = "Pay button covers the total on small phones"
CLIENT = "buzz-agent before 1332"
"""Pull request 1332 gave an image a flat charge; the agent of this story runs a version before it."""
RULE = (
    "One rule for the whole session: never touch package-lock.json. It stays exactly as it is, "
    "even if a tool offers to update it. And keep the pay button at least 44 px high, it is a touch target."
)
HANDOFFS = (
    """[Context Handoff]
Original task: three tickets say that on an iPhone SE the blue Pay button covers the order total on the last checkout \
step. Find out what changed, reproduce it at the SE's size with the voucher field open, take a screenshot.
Rules of the user: never touch package-lock.json; keep the pay button at least 44 px high.
Accomplished: the sticky footer went from normal flow to position: fixed in the last release; nothing reserves its \
height, so on screens under about 600 px the total row ends up beneath it. The checkout was opened at the SE's size.
Key decisions: none yet; find out first, then fix.
What remains: show the overlap in a screenshot, then wait for the user.
Next step: read the page's components again and say by how many pixels the bar covers the total.""",
    """[Context Handoff]
Original task: the Pay button covered the order total on small phones; since then the bundle grew by 9 KB and the \
user wants to know what came in.
Accomplished: the checkout is a grid with the pay bar in an auto row; the safe-area inset is counted once; six \
regression tests compare boxes at 320, 375 and 390 px; GiftNote and DeliveryPicker use the shared grid.
Key decisions: no height is measured in an effect; boxes are compared, not pixels.
What remains: find the import that brought 9 KB into the bundle and take it out.
Next step: KeyboardSpacer imports the whole icon set since a merge; import the one icon and check the bundle.""",
)


@dataclass(frozen=True, slots=True)
class Task:
    """A prompt, the component it is about, its tool steps and what the assistant says at the end.

    ``steps`` are letters: r read source, c read style sheet, t read test, l read locale, g grep, e edit, b run
    tests (B all of them, a long log), h history, S the large screenshot, s a small one, k the edit of the lockfile.
    """

    prompt: str
    component: str
    steps: str
    closing: str


TASKS = (
    Task(
        "Support has three tickets from people with an iPhone SE: on the last checkout step the blue Pay button "
        "covers the order total, so they cannot see what they are about to pay. It started with last week's "
        "release. Please find out what changed before you fix anything.",
        "PayBar", "hgrcrcg",
        "The sticky footer changed from normal flow to position: fixed in the last release, and nothing reserves its "
        "height any more. On screens shorter than about 600 px the total row ends up beneath it.",
    ),
    Task(
        "That fits. Reproduce it in the browser at the SE's size and take a screenshot so that I can attach it to the "
        "ticket. I want to see the overlap with the voucher field open, that is the worst case.",
        "StickyFooter", "rctbggrlbSrc",
        "The screenshot shows it: with the voucher field open, the lower edge of the total lies 31 px below the upper "
        "edge of the pay bar. The page is long enough, it just cannot scroll far enough.",
    ),
    Task(
        "Good. Now fix it without JavaScript if you can. I would rather have the footer in the grid than measure its "
        "height in an effect.",
        "CheckoutPage", "rcecebrcebs",
        "The checkout is a grid now: content in the first row, the pay bar in an auto row that sticks to the bottom. "
        "No height is measured anywhere, and KeyboardSpacer is not needed on this page.",
    ),
    Task(
        "The keyboard still pushes the bar up over the address form on Android. Can you check how the viewport "
        "units behave there, and whether the safe-area inset is counted twice?",
        "AddressForm", "rgctreber",
        "The inset was counted twice: once in StickyFooter's padding, once in the body. I kept the footer's and used "
        "dvh for the grid, so the bar no longer rides on the keyboard.",
    ),
    Task(
        "Write the regression test now: it should compare boxes, not pixels, at 320, 375 and 390 px, with the voucher "
        "field open and closed.",
        "TotalRow", "ttrebtebb",
        "There are six cases, each asserting that the total ends above the pay bar and that the button is at least "
        "44 px high. All of them fail on last week's release and pass now.",
    ),
    Task(
        "Reviewer's remark: in German the button label wraps into two lines and the bar grows. Does the total stay "
        "visible then? Try the longest translation we have.",
        "WalletButton", "lrclgcec",
        "The longest label wraps at 320 px and the bar grows to 68 px; the grid row grows with it and the total stays "
        "8 px above. No change was needed except a balanced wrap.",
    ),
    Task(
        "Please look for the same pattern elsewhere. I remember the gift note having its own fixed footer.",
        "GiftNote", "ggrcrcebh",
        "GiftNote and DeliveryPicker had copies of the fixed footer. Both use the shared grid now.",
    ),
    Task(
        "CI says the bundle grew by 9 KB, which cannot be the CSS. Find out what came in and take it out again.",
        "KeyboardSpacer", "bgrrhBkb",
        "An import of the whole icon set in KeyboardSpacer came in with a merge. I pinned the icon package in "
        "package-lock.json to the release before, which brings the bundle back to where it was.",
    ),
    Task(
        "Last thing: summarise the change for the release notes in plain words, and list what I should try by hand on "
        "a real phone before we ship.",
        "OrderSummary", "hrbtrs",
        "Release note: on small phones the Pay button no longer covers the order total. By hand: iPhone SE with the "
        "voucher field open, an Android phone with the keyboard up, German at 320 px, and the gift note page.",
    ),
)  # fmt: skip

THOUGHTS = (
    "The overlap depends on the height of the bar, so I should look at who decides that height before changing it.",
    "Two places set the same padding. If both apply, the sum would explain the {n} px that I see in the failing test.",
    "The test log names the box, not the rule. I will read {component} next and compare it with its style sheet.",
    "A fixed footer leaves the flow, so the last row can never scroll past it. The grid would solve this by itself.",
    "A plain test run will do: I do not want to install or build anything before I know the cause.",
    "It could also be the browser's own toolbar: at this height it takes about {n} px. I would rather rule that out.",
)

SAYINGS = {
    "r": "I'll read {component} to see how the bar is laid out.",
    "c": "Now the style sheet of {component}, the numbers should be there.",
    "t": "Let me see what the tests of {component} already assert.",
    "l": "The texts of {component} may be longer than I assume; I'll check the locale file.",
    "g": "I'll search for other users of this rule, {component} may not be alone.",
    "e": "Changing {component} so that the row reserves its own space.",
    "b": "Running the phone project only; it does not install anything.",
    "B": "The whole suite this time, with every phone size.",
    "k": "Pinning the icon package to the release before the merge.",
    "h": "What went into the last release around {component}?",
    "S": "Opening the checkout at the SE's size and taking the screenshot with the voucher field open.",
    "s": "A picture of the result at the same size.",
}

MODEL = "claude-opus-4-8"
SEED = 1332
WINDOW, THRESHOLD = 200_000, 167_232
"""buzz-agent's threshold at this window: what its trigger compares bytes with, one to one (seeds 2.3)."""
OVERHEAD = 3_367
"""Tokens of the system prompt and the tools that the agent would send."""
RATIO = 1.46
"""Tokens per o200k token in the demo's usage; each message strays a little from it."""


def write_demo(file: BinaryIO) -> None:
    """Write the session: its head, then one message a line."""
    writer = _Writer()
    for number, task in enumerate(TASKS):
        writer.prompt(task.prompt)
        if number == 0:
            writer.prompt(RULE)
        for step in task.steps:
            writer.step(task, step)
        writer.reply([{"type": "text", "text": task.closing}])
    lines = (json.dumps(value, ensure_ascii=False, separators=(",", ":")) for value in writer.lines())
    file.writelines(line.encode() + b"\n" for line in lines)


class _Writer:
    """Keeps the clock, the context that the provider would report, and what the agent's trigger counts."""

    def __init__(self) -> None:
        self._rng = random.Random(SEED)  # noqa: S311  the demo is to be the same every time
        self._tools = Tools(self._rng)
        self._clock = datetime(2026, 10, 6, 8, 12, 5, tzinfo=UTC)
        self._messages: list[Block] = []
        self._compactions: list[Block] = []
        self._n_requests = 0
        self._context = OVERHEAD
        """Tokens that the next request sends."""
        self._sent = 0
        """Tokens that the last request sent: what the next one reads from the cache."""
        self._grown = 0
        """Bytes that came to the list since the last request."""
        self._live = 0
        """The newest prompt of the user, which stands again after a hand-off."""

    def lines(self) -> list[Block]:
        """The head and all messages."""
        head = {
            "ctxweb": "session/1", "id": f"buzz-{SEED}", "title": TITLE, "model": MODEL, "client": CLIENT,
            "window": WINDOW, "n_messages": len(self._messages), "compactions": self._compactions,
        }  # fmt: skip
        return [head, *self._messages]

    def prompt(self, text: str) -> None:
        self._clock += timedelta(seconds=self._rng.randint(20, 140))
        self._live = len(self._messages)
        self._add("user", text, typed=True)
        self._context += self._weight(text)

    def step(self, task: Task, kind: str) -> None:
        """One model reply with a tool call, and the call's result."""
        component = self._tools.component(task.component)
        name, arguments, result = self._tools.use(component, kind)
        call = f"toolu_01{self._rng.getrandbits(88):022x}"
        blocks: list[Block] = []
        if self._rng.random() < 0.3:
            thought = self._rng.choice(THOUGHTS).format(component=component, n=self._rng.randint(9, 64))
            blocks.append(
                {"type": "thinking", "thinking": thought, "signature": f"{self._rng.getrandbits(1_600):0400x}"}
            )
        blocks.append({"type": "text", "text": SAYINGS[kind].format(component=component)})
        blocks.append({"type": "tool_use", "id": call, "name": name, "input": arguments})
        self.reply(blocks)
        self._add("user", [{"type": "tool_result", "tool_use_id": call, "content": result}], typed=False)
        self._context += self._weight(result)
        if kind == "S":
            self._tools.grow()

    def reply(self, blocks: list[Block]) -> None:
        """A response with its usage, after the agent's trigger was asked: last input and the growth in bytes."""
        counted = self._sent + self._grown
        if self._sent and counted >= THRESHOLD:
            self._hand_off(counted)
        said = " ".join(_text_of(block) for block in blocks)
        output, fresh = self._weight(said) + 4, self._rng.randint(1, 6)
        read = min(self._sent, self._context - fresh)
        usage = {"input": fresh, "cache_read": read, "cache_write": self._context - read - fresh, "output": output}
        self._clock += timedelta(seconds=self._rng.randint(2, 19))
        request = {"index": self._n_requests, "model": MODEL, "response_id": f"msg_01{self._rng.getrandbits(88):022x}"}
        self._sent, self._grown = self._context, 0
        self._add("assistant", blocks, usage=usage, request=request)
        self._n_requests += 1
        self._context += output

    def _hand_off(self, counted: int) -> None:
        """The whole list becomes one summary; the live prompt stands again."""
        text, boundary = HANDOFFS[len(self._compactions)], len(self._messages)
        prompt = self._messages[self._live]["content"]
        after = OVERHEAD + self._weight(text) + self._weight(prompt)
        self._compactions.append({
            "boundary": boundary, "request": self._n_requests, "message": boundary, "trigger": "auto",
            "tokens_before": counted, "tokens_after": after, "preserved": [self._live],
        })  # fmt: skip
        self._add("user", text, typed=False, summary=True, compaction=len(self._compactions) - 1)
        self._context, self._sent = after, OVERHEAD

    def _weight(self, content: Any) -> int:
        """What the content weighs for the demo's provider: near RATIO x o200k, images by the 28-pixel rule."""
        if isinstance(content, str):
            return max(1, round(count(content).n_tokens * RATIO * self._rng.uniform(0.985, 1.015)))
        return sum(
            self._weight(part["text"]) if part["type"] == "text" else IMAGE_TOKENS[len(part["source"]["data"])]
            for part in content
        )

    def _add(self, role: str, content: Any, **fields: Any) -> None:
        self._clock += timedelta(seconds=self._rng.randint(1, 7))
        ident = f"{self._rng.getrandbits(64):016x}"
        line = {"role": role, "content": content, "id": ident, "timestamp": round(self._clock.timestamp(), 3)}
        self._messages.append(line | fields)
        self._grown += _n_bytes(content)


def _text_of(block: Block) -> str:
    if block["type"] == "tool_use":
        return f"{block['name']} {json.dumps(block['input'], separators=(',', ':'))}"
    return str(block.get("text") or block.get("thinking"))


def _n_bytes(content: Any) -> int:
    """Bytes as buzz-agent counted them: texts, ids, a call's name and arguments, an image's base64 and media type."""
    if isinstance(content, str):
        return len(content.encode())
    total = 0
    for block in content:
        if block["type"] == "tool_use":
            arguments = json.dumps(block["input"], ensure_ascii=False, separators=(",", ":"))
            total += len(block["id"]) + len(block["name"]) + len(arguments.encode())
        elif block["type"] == "tool_result":
            total += len(block["tool_use_id"]) + _n_bytes(block["content"])
        elif block["type"] == "image":
            total += len(block["source"]["data"]) + len(block["source"]["media_type"])
        else:
            total += len(_text_of(block).encode()) + len(block.get("signature", ""))
    return total
