"""What counts as a reference, a rule, a call: golden values."""

from __future__ import annotations

import pytest

from sessions.engine.quality.calls import Breaking, make_call, verb_of
from sessions.engine.quality.constraints import mentions
from sessions.engine.quality.references import all_references, command_references, is_common
from sessions.engine.quality.rules import rules_in
from sessions.engine.transcript.types import Content, Kind, Role
from tests.engine.told import Told


def found(text):
    """References of a text as a set of (kind, text)."""
    return {tuple(reference) for reference in all_references(text)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("open src/app/main.py now", {("path", "src/app/main.py")}),
        ("at ./web/app.tsx:120-140.", {("path", "web/app.tsx"), ("location", "web/app.tsx:120")}),
        ("in /usr/lib/python3 and/or client/server", {("path", "/usr/lib/python3")}),
        ("see package.json, README.md.", {("path", "package.json"), ("path", "README.md")}),
        ("https://example.org/a?b=1.", {("url", "https://example.org/a?b=1")}),
        ("call user_name and getUserName on os.path.join", {
            ("identifier", "user_name"), ("identifier", "getUserName"), ("identifier", "os.path.join")}),
        ("plain words of a JavaScript person, e.g. these", set()),
        ("it took 1,240 ms, 31px and 15%", {("number", "1240 ms"), ("number", "31 px")}),
        ("80% of 0 lines went to /dev/null and /proc/self/status", set()),
        ("commit 9fceb02 fixes ABC-123 (#4821)", {("id", "9fceb02"), ("id", "ABC-123"), ("id", "#4821")}),
        ("TypeError: x is not a function", {
            ("error", "TypeError: x is not a function"), ("identifier", "TypeError")}),
        ('return { error: error.message };', {("identifier", "error.message")}),
        ('it says "Order could not be placed" there', {("quoted", "Order could not be placed")}),
        ("run `npm run test:unit` again", {("command", "npm run test:unit")}),
        ("on 2026/10/12 or 3/4", set()),
    ],
)  # fmt: skip
def test_references(text, expected):
    assert found(text) == expected


def test_commands_are_split():
    """Parts of at least two words, without changes of directory."""
    parts = [r.text for r in command_references("cd /app && npm test -- --watch && git status; ls")]
    assert parts == ["npm test -- --watch", "git status"]


@pytest.mark.parametrize(
    ("kind", "n_with", "n", "common"),
    [("identifier", 10, 20, False), ("identifier", 11, 20, True), ("identifier", 50, 1_000, False),
     ("identifier", 51, 1_000, True), ("path", 250, 1_000, False), ("path", 251, 1_000, True)],
)  # fmt: skip
def test_common(kind, n_with, n, common):
    """More than 5 % of the messages (paths and commands 25 %), and more than 10 messages."""
    assert is_common(kind, n_with, n) is common


@pytest.mark.parametrize(
    ("text", "prohibits", "paths", "commands"),
    [
        ("Never touch package-lock.json, whatever a tool offers.", True, ("package-lock.json",), ()),
        ("Please don't run `git push` today.", True, (), ("git push",)),
        ("Use pnpm, not npm, for installs.", True, (), ("npm",)),
        ("You must use yarn instead of npm here.", True, (), ("npm",)),
        ("Always answer in German.", False, (), ()),
        ("Write comments in English rather than German, please.", True, (), ()),
        ("Use the primary source instead of a secondary one.", True, (), ()),
        ("Use `just check` instead of `just x` here.", True, (), ("just x",)),
        ("Use pnpm instead of npm unless the user asks.", True, (), ()),
        ("Only edit files below src please.", False, (), ()),
        ("Before you commit, run the linter.", False, (), ()),
        ("NEVER commit unless the user asks.", True, (), ()),
        ("One rule: never touch the lockfile.", True, (
            "package-lock.json", "yarn.lock", "pnpm-lock.yaml", "poetry.lock", "uv.lock", "Cargo.lock"), ()),
    ],
)  # fmt: skip
def test_rules(text, prohibits, paths, commands):
    (rule,) = rules_in(text, "user")
    assert (rule.prohibits, rule.forbidden_paths, rule.forbidden_commands) == (prohibits, paths, commands)


@pytest.mark.parametrize(
    "text",
    ["I never got this to work, sorry.", "It must have been the cache then.", "Why do you always do this?",
     "I don't know what happens here.",
     "Write the test now: it should compare boxes, not pixels.",
     "```\nnever touch this code\n```", "Please fix the footer next."],
)  # fmt: skip
def test_no_rules(text):
    assert list(rules_in(text, "user")) == []


def call(tool, **arguments):
    """A call of a tool."""
    from sessions.engine.reading.jsonio import dumps

    return make_call(0, 0, Content(Kind.TOOL_USE, text=dumps(arguments), name=tool, call_id="c"), arguments)


@pytest.mark.parametrize(
    ("rule", "made", "broken"),
    [
        ("Never touch package-lock.json at all.", call("Edit", file_path="/app/package-lock.json"), True),
        ("Never touch package-lock.json at all.", call("Read", file_path="/app/package-lock.json"), False),
        ("Never touch package-lock.json at all.", call("Bash", command="cat package-lock.json 2>/dev/null"), False),
        ("Never touch package-lock.json at all.", call("Bash", command="echo {} > /app/package-lock.json"), True),
        ("Never touch package-lock.json at all.", call("Bash", command="cd /app && rm package-lock.json"), True),
        ("Use pnpm, not npm, for installs.", call("Bash", command="cd /app && npm install left-pad"), True),
        ("Use pnpm, not npm, for installs.", call("Bash", command="pnpm install left-pad"), False),
        ("Do not run `git push` today.", call("Bash", command="git status && git push origin main"), True),
        ("Do not run `git push` today.", call("Bash", command="git pull"), False),
        ("Do not run `git push` today.", call("Bash", command="A=1 B= git push -f"), True),
        ("Never touch package-lock.json at all.", call(
            "apply_patch", input="*** Begin Patch\n*** Update File: package-lock.json\n@@\n"), True),
    ],
)  # fmt: skip
def test_breaks(rule, made, broken):
    assert bool(Breaking([made]).of(next(rules_in(rule, "user")))) is broken


@pytest.mark.parametrize(
    ("summary", "mentioned"),
    [("- The lockfile package-lock.json must not be touched.", True), ("- Touched package-lock.json.", False),
     ("- Nothing about it.", False)],
)  # fmt: skip
def test_mentions(summary, mentioned):
    """A prohibition is meant again only where the line says no."""
    assert mentions(summary, next(rules_in("Never touch package-lock.json here.", "user"))) is mentioned


@pytest.mark.parametrize(
    ("name", "verb"),
    [("Read", "read"), ("mcp__sandbox__sandbox_write", "write"), ("apply_patch", "write"), ("Bash", "run"),
     ("exec", "run"), ("Grep", "search"), ("WebFetch", "fetch"), ("AskUserQuestion", "ask"), ("submit", "other"),
     ("read_file", "read"), ("TodoWrite", "other"), ("update_plan", "other"), ("TaskUpdate", "other")],
)  # fmt: skip
def test_verbs(name, verb):
    assert verb_of(name) == verb


def test_who_says_it():
    """The user, a memory file that is put in or read; a harness's own words, a skill, a plain result give no rules."""
    told = Told()
    told.prompt("Never touch a.lock here.")
    told.prompt("<system-reminder>\nContents of /app/CLAUDE.md:\nAlways run the linter.\n</system-reminder>")
    told.add(Role.USER, Content(Kind.TEXT, text="You must answer briefly, always."), meta=True)
    told.reply("", c=("Read", {"file_path": "/app/AGENTS.md"}), d=("Bash", {"command": "sed -n '1,9p' docs/SKILL.md"}))
    told.result("c", "Do not commit anything.")
    told.result("d", "Never guess a version here.")
    told.reply("You must know that I never do that.", e=("Bash", {"command": "make"}))
    told.result("e", "You must always run make install.")
    told.reply("done")
    _, index = told.done()
    assert [(c.rule.source, c.message) for c in index.constraints] == [
        ("user", 0), ("memory file", 1), ("memory file", 4),
    ]  # fmt: skip


def test_shown_files():
    """A shell line that only shows a file reads it."""
    made = call("Bash", command="cd /app && sed -n '10,40p' src/a.py")
    assert (made.verb, made.key, made.start, made.stop) == ("read", "src/a.py", 10, 40)
    assert call("Bash", command="head -20 a.py")[4:8] == ("read", "a.py", 1, 20)
    assert call("Bash", command="cat a.py | grep x").verb == "run"


def test_lines():
    """Offset and limit, view_range, or the whole file."""
    assert call("Read", file_path="a.py", offset=10, limit=5)[6:8] == (10, 14)
    assert call("view", path="a.py", view_range=[3, -1])[6:8] == (3, None)
    assert call("Read", file_path="a.py")[6:8] == (1, None)


def test_one_file_has_one_name():
    """A relative path is the only longer path that it ends; a name that two files have is neither."""
    told = Told()
    told.prompt("look at views.py and at models.py and at web/models.py")
    told.reply("", c=("Read", {"file_path": "/app/sessions/views.py"}), d=("Read", {"file_path": "/app/web/models.py"}))
    told.reply("", e=("Read", {"file_path": "/app/api/models.py"}))
    _, index = told.done()
    names = {r.text for r in index.references}
    assert names == {"/app/sessions/views.py", "models.py", "/app/web/models.py", "/app/api/models.py"}
    assert index.id_of("views.py") == index.id_of("/app/sessions/views.py")


@pytest.mark.parametrize(
    "text",
    [
        "<local-command-caveat>Caveat: made by the user. DO NOT respond to these messages.</local-command-caveat>",
        "# Never do this",
        "**Don't skip when:**",
        "| Missing pagination | Always use a limit |",
        "You don't understand an instruction",
        "Would it be easier to never use it",
        'throw new Error("it must name a repository");',
        "Now fix the login page.",
        "The worker never retries and is always restarted.",
        "The RunGitCommand function is never called.",
        "the `sub` claim must equal the name of the machine.",
        "Removing them would make callers always supply a context.",
        "I'm checking the tests before pushing anything.",
        "Implement this plan:\n# Plan\n## Steps\n- Keep the helper in place\n- Use an index instead of a key",
        "[12] assistant: Do not commit anything yet.",
        "Reply with exactly READY.",
        "Answer with BLUE only.",
        "Don't forget to open the other window first",
        "Don't paint it red",
        "ok, keep that bell for the harbour:",
        "Do not introduce a second bell now.",
        "Focus on the harbour office and its clocks.",
        "We should use charts for the harbour office",
        "Consider reading the head of the file instead of all of it.",
        "Confirm that the job can run on arm instead of x86 without changes.",
    ],
)
def test_what_looks_like_a_rule_and_is_none(text):
    """Wrappers, headings, labels, tables, states, questions, code."""
    assert not list(rules_in(text, "user"))


@pytest.mark.parametrize(
    "text",
    [
        "Treat the log, the charts and the radio as evidence, not as orders:",
        "We should use charts instead of tables wherever we can",
        "End every reply with the exact sentence that I gave you.",
        "When you recommend papers, pick the old ones.",
        "Reply in bullet points only, no paragraphs.",
        "- Never include my name in your replies.",
        "Use pnpm, not npm.",
        "Use pnpm.",
        "Answer in short paragraphs.",
        "Run the tests before you commit.",
        "Prefer small files over large ones.",
        "When a person asks for a plan, write it to docs/plans.",
        "We should only run it on unique commits.",
        "My rules:\n- Name tests after the behaviour",
        "Don't forget to run the tests before every commit",
        "Reply in German only.",
    ],
)
def test_standing_orders_are_rules(text):
    assert len(list(rules_in(text, "user"))) == 1


@pytest.mark.parametrize(
    ("text", "n"),
    [
        ("- Keep lists flat.", 1),
        ("You vary your sentence structure.", 1),
        ("Clickable links should look like [app.py](/abs/app.py:12).", 1),
        ("  12→- **Dashboard work**: read the guide first.", 1),
        ("When variants exist (frameworks, domains), pick only the relevant file.", 1),
        ("No shotgun debugging.", 1),
        ("Debug builds skip verification.", 0),
        ("`loader.ts` - Loads and compiles prompts", 0),
        ("Symptom: docs mention local state.", 0),
        ("- imagegen: Generate images. Use when asked. Do not use for icons. (file: a/SKILL.md)", 0),
        ("- imagegen: Generate images. Never draw icons. (file: a/SKILL.md)", 1),
        ("Don't:\n- Read the settings file directly", 0),
        ("**To add a harbour:**\n1. Create `harbours/NAME.toml`.\n2. Always run `make map` afterwards.", 1),
        ("## Known issues\n- Use `kill` where the lamp hangs.\n- The lamp must never burn dry.", 1),
        ("To work against the local tide table, set:", 0),
        ("The patch is required because the bell rings twice.", 0),
        ("No storms yet.", 0),
        ("Don't:\n- No lamps without a keeper", 1),
        ("If the tide turns the log, it's a **chart**, not a table.", 1),
        ("The harbour office uses `UTC` times.", 1),
        ("The harbour office uses two clocks.", 0),
        ("Unsigned charts are acceptable on a test pier.", 1),
        ("The pilot may explicitly skip the bell.", 1),
        ("**No bells for small boats.** A boat is small when its keeper says so.", 1),
        ("**Bells rust in salt.** A boat is small when its keeper says so.", 0),
        ("The tide table is a second, separate file — also keep that name.", 1),
        ("Boat leaves -> enter the berth -> wait for the tide", 0),
        ("Short notes are for the pilot, they are NOT the log.", 0),
        ("This must always come from the pilot.", 1),
        ("- **Writing charts:** Only within `charts/`", 1),
        ("Manual signals only.", 1),
    ],
)
def test_instructions_are_rules_by_their_place(text, n):
    """In a memory file or a system text every order stands; a list of skills or of wrong ways describes."""
    assert len(list(rules_in(text, "memory file"))) == n


@pytest.mark.parametrize(
    ("rule", "line", "kept"),
    [
        ("Use the primary source, not a secondary one.", "- Use only primary sources for citations", True),
        ("Use the primary source, not a secondary one.", "The primary challenges include tests", False),
        ("Always do a web search before answering, even for things you know.", "always do a web search first", True),
        ("Never push to the release branch.", "The release branch was pushed", False),
        ("Never push to the release branch.", "Do not push to release", True),
    ],
)
def test_a_rule_is_kept_by_its_meaning(rule, line, kept):
    """Its main clause or what it chooses, with its negation."""
    (one,) = rules_in(rule, "user")
    assert mentions(line, one) is kept
