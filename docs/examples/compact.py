"""A compaction policy of your own: the first message, a note, and the newest messages that fit 20,000 tokens."""

from __future__ import annotations

import json
import sys

asked = json.load(sys.stdin)
keep, left = [], int(asked["params"].get("keep_tokens", 20_000))
for message in reversed(asked["messages"][1:]):
    left -= message["tokens"]
    if left < 0 and not message["calls"]:  # never leave a result without its call
        break
    keep.insert(0, message["id"])
while keep and next(m for m in asked["messages"] if m["id"] == keep[0])["results"]:
    keep.pop(0)
json.dump({"messages": [asked["messages"][0]["id"], {"text": "[older messages dropped]"}, *keep]}, sys.stdout)
