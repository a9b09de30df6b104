"""Mutants that change nothing a replay can show, by key, each with its reason."""

from __future__ import annotations

NO_LIST = "None is never the list asked about: what stands beside it is not read"
AGAIN = "what was seen is looked at again: the same names, more work"
POLICIES = "sessions/engine/policies"
ESTIMATORS = "sessions/engine/tokens/estimators"
THIN = "a picture one patch thin is bound by its longer side before the limit of patches, be they one or two across"
SAME_CELLS = "as many tiles, patches and cells by every rule of the table"
SEARCH = "another way to the same width: one and two pixels always fit, and what is tried lies within"
BEFORE = "no message stands before the first one"
WHOLE_CELLS = "a padded side is a multiple of 28 pixels: one pixel more allows no other"

EQUIVALENT: dict[str, str] = {
    f"{POLICIES}/layered.py:micro_to_target: found_results(view) if place.position < last_reply → "
    "found_results(view) if place.position <= last_reply": "a reply holds no results",
    f"{POLICIES}/_looked.py:added_up: al = view.state.memory.get(name, (None, 0, 0)) → "
    "al = view.state.memory.get(name, (None, -1, 0))": NO_LIST,
    f"{POLICIES}/_looked.py:added_up: = view.state.memory.get(name, (None, 0, 0)) → "
    "= view.state.memory.get(name, (None, 0, 1))": NO_LIST,
    f"{POLICIES}/_looked.py:added_up: al = view.state.memory.get(name, (None, 0, 0)) → "
    "al = view.state.memory.get(name, (None, 1, 0))": NO_LIST,
    f"{POLICIES}/_looked.py:added_up: = view.state.memory.get(name, (None, 0, 0)) → "
    "= view.state.memory.get(name, (None, 0, -1))": NO_LIST,
    f"{POLICIES}/opencode.py:_size: return (2 * result_chars(block) + 4) // 8 → "
    "return (2 * result_chars(block) + 5) // 8": "what is divided by eight is even: one more never reaches it",
    f"{POLICIES}/buzz.py:cap_gate: fires = size > limit and view.state.memory.get('handed_off_at') → "
    "fires = size >= limit and view.state.memory.get('handed_off_at')": "at the cap itself the edit drops nothing",
    f"{POLICIES}/parametric.py:edit: ew.state.memory['edited_up_to'] = (at + 1, view.items[at].id) → "
    "ew.state.memory['edited_up_to'] = (at + 0, view.items[at].id)": "one message more is looked at, edited already",
    f"{POLICIES}/_looked.py:looked_at: on = view.state.memory.get(name, (None, 0)) → "
    "on = view.state.memory.get(name, (None, 1))": NO_LIST,
    f"{POLICIES}/_looked.py:looked_at: on = view.state.memory.get(name, (None, 0)) → "
    "on = view.state.memory.get(name, (None, -1))": NO_LIST,
    f"{POLICIES}/anthropic_api.py:uses_gate: least = params.clear_at_least or 0 → "
    "least = params.clear_at_least or -1": "nothing weighs less than nothing",
    f"{POLICIES}/langchain.py:_first_kept: return (len(view.results), 0) → "
    "return (len(view.results), -1)": "it is read at that position alone, and there is no result",
    f"{POLICIES}/_lists.py:call_names: e.memory['calls'] = (names, view.items[-1].id) → "
    "e.memory['calls'] = (names, view.items[-0].id)": AGAIN,
    f"{POLICIES}/claude_code.py:_refills: ills = view.state.memory.get('refills', 0) + 1 if soon else 0 → "
    "ills = view.state.memory.get('refills', -1) + 1 if soon else 0": "both memories are written together",
    f"{POLICIES}/langchain.py:saved: "
    "turn int(view.state.memory.get('saved', 0)) if view.unedited > view.context else 0 → "
    "turn int(view.state.memory.get('saved', -1)) if view.unedited > view.context else 0": "what writes it edits alone",
    f"{POLICIES}/parametric.py:edit: at = max(found) → at = min(found)": AGAIN,
    f"{POLICIES}/parametric.py:remade: ss('Params', fields, frozen=True, slots=True) → "
    "ss('Params', fields, frozen=True, slots=False)": "the same fields",
    f"{POLICIES}/layered.py:snip.edit: start = max(0, len(rest) - (params.max_messages - params.head → "
    "start = max(-1, len(rest) - (params.max_messages - params.head": "the gate's list is longer than what stays",
    f"{POLICIES}/swe_agent_last_n.py:elided: last = max(0, n_observations // polling * polling - n) → "
    "last = max(-1, n_observations // polling * polling - n)": "below 1 it is the same: none is elided",
    f"{POLICIES}/autogen.py:fitting: if until[n] <= limit: → if until[n] < limit:": "at the limit all are kept",
    f"{ESTIMATORS}/_image_grids.py:glm_tokens: if short < CELL: → if short <= CELL:": "28 pixels scaled to 28 pixels",
    f"{ESTIMATORS}/_image_grids.py:kimi_tokens: n_patches = max(1, width // PATCH) * max(1, height // PATCH) → "
    "n_patches = max(2, width // PATCH) * max(1, height // PATCH)": THIN,
    f"{ESTIMATORS}/_image_grids.py:kimi_tokens: _patches = max(1, width // PATCH) * max(1, height // PATCH) → "
    "_patches = max(1, width // PATCH) * max(2, height // PATCH)": THIN,
    f"{ESTIMATORS}/_image_grids.py:kimi_tokens: fitted.append(max(1, min(side, by_patches, by_side))) → "
    "fitted.append(max(2, min(side, by_patches, by_side)))": "one pixel or two: padded to one cell",
    f"{ESTIMATORS}/_images.py:: TIERS = {{'standard': (1568, 1568), 'high-res': (2576, 4784)}} → "
    "TIERS = {'standard': (1569, 1568), 'high-res': (2576, 4784)}": WHOLE_CELLS,
    f"{ESTIMATORS}/_images.py:: TIERS = {{'standard': (1568, 1568), 'high-res': (2576, 4784)}} → "
    "TIERS = {'standard': (1568, 1569), 'high-res': (2576, 4784)}": "1,569 patches are 3 x 523 alone: a side too long",
    f"{ESTIMATORS}/_images.py:: tandard': (1568, 1568), 'high-res': (2576, 4784)}} → "
    "tandard': (1568, 1568), 'high-res': (2577, 4784)}": WHOLE_CELLS,
    f"{ESTIMATORS}/_images.py:: ASSUMED_SIDE = 1024 → ASSUMED_SIDE = 1023": SAME_CELLS,
    f"{ESTIMATORS}/_images.py:: PDF_PAGE_PIXELS = (1075, 1520) → PDF_PAGE_PIXELS = (1076, 1520)": SAME_CELLS,
    f"{ESTIMATORS}/_images.py:: PDF_PAGE_PIXELS = (1075, 1520) → PDF_PAGE_PIXELS = (1074, 1520)": SAME_CELLS,
    f"{ESTIMATORS}/_images.py:: PDF_PAGE_PIXELS = (1075, 1520) → PDF_PAGE_PIXELS = (1075, 1521)": SAME_CELLS,
    f"{ESTIMATORS}/_images.py:claude_image_size: low, high = (1, width) → low, high = (2, width)": SEARCH,
    f"{ESTIMATORS}/_images.py:claude_image_size: low, high = (1, width) → low, high = (0, width)": SEARCH,
    f"{ESTIMATORS}/_images.py:claude_image_size: middle = (low + high + 1) // 2 → "
    "middle = (low + high + 2) // 2": SEARCH,
    f"{POLICIES}/layered.py:snip.edit: while start > head and rest[start:start + 1] and rest[start].me → "
    "while start >= head and rest[start:start + 1] and rest[start].m": "at the head nothing is between: the list stays",
    f"{ESTIMATORS}/inspect.py:_with_buffer: return max(1, int(n_tokens * BUFFER)) if n_tokens else 0 → "
    "return max(0, int(n_tokens * BUFFER)) if n_tokens else 0": "a token and a tenth is one",
    f"{POLICIES}/langchain.py:waiting: looked(view, 'waiting_from', max(start, stop)) → "
    "looked(view, 'waiting_from', min(start, stop))": AGAIN,
    f"{POLICIES}/ag2.py:Counted.is_shortened: > 0 or (bool(self.long) and self.long[-1] > 0) or mine > most - "
    "counted → > 0 or (bool(self.long) and self.long[-0] > 0) or mine > most - counted": "a long first message is "
    "cut to what is left, which is less than one message may have",
    f"{POLICIES}/cline.py:basic_edit: latest = (prompts(rest) or [-1])[-1] → "
    "latest = (prompts(rest) or [-2])[-1]": BEFORE,
    f"{POLICIES}/deepagents_summarization.py:wanted: ent_cut(params, view, items) if on else 0 → "
    "ent_cut(params, view, items) if on else -1": BEFORE,
    f"{POLICIES}/openhands.py:sdk_span: iew.items) if role_of(item) == SYSTEM), 0) → "
    "iew.items) if role_of(item) == SYSTEM), -1)": "fewer than none is kept first nowhere",
}
