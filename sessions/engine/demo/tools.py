"""What the tools of the demo's agent answer: files, searches, test logs, commits, edits and pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sessions.engine.demo.files import COMPONENTS, ROOT, git_log, grep, numbered, path_of, source, test_log
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
LOCKFILE = f"{ROOT}/package-lock.json"


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
