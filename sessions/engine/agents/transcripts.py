"""Agents of which it is known what they write, where they keep it, how they compact, and no way to configure them."""

from __future__ import annotations

from sessions.engine.agents.agent import EVERY_REQUEST, TURN_START, Agent, KnownSetting, Place, PolicyFacts, Trigger
from sessions.engine.agents.setting import OTHER

GOOSE = (
    KnownSetting({}, "the defaults: 80% of the window"),
    *(KnownSetting({"threshold": p / 100}, f"a threshold of {p}%") for p in (50, 60, 70, 90)),
)
ROO = (
    KnownSetting({}, "the defaults"),
    *(KnownSetting({"condense_percent": p}, f"a threshold of {p}%") for p in (50, 60, 70, 75, 80, 90)),
)


def _agent(name: str, label: str, folder: str, *patterns: str, policies: tuple[str, ...] = ()) -> Agent:
    """An agent of one format, which bears its name."""
    return Agent(name, label, (name,), policies, places={name: Place(folder, patterns)})


AGENTS = (
    Agent("aider", "aider", ("aider",), ("aider",), facts={"aider": PolicyFacts(counts="tokens of its chat history")}),
    _agent("amp", "Amp", "~/.local/share/amp/threads", "T-*.json"),
    _agent("antigravity", "Antigravity", "~/.gemini/antigravity", "brain/*/.system_generated/logs/transcript.jsonl"),
    Agent("browser_use", "Browser Use", ("browser_use",), ("browser_use",)),
    Agent(
        name="cline", label="Cline", rank=6, formats=("cline",),
        policies=("cline_agentic", "cline_basic", "cline_classic"),
        triggers=(
            Trigger(
                "cline", "Cline SDK", "policies 11.2", "cline_basic", is_default=False,
                words="Cline's 0.81 of the window",
                note="Where the model's input limit is known, the SDK takes nine tenths of that.",
            ),
        ),
        older=(Trigger("older", "Cline", "policies 11.3", "cline_classic", words="Cline's maximum"),),
    ),
    Agent(
        name="copilot_cli", label="GitHub Copilot CLI", rank=13, formats=("copilot_cli",), policies=("copilot_cli",),
        asked=EVERY_REQUEST, windows=(128_000, 200_000),
        facts={"copilot_cli": PolicyFacts((KnownSetting({}, "the default: 80% of the window"),))},
        triggers=(
            Trigger(
                "copilot_cli", "GitHub Copilot CLI", "policies 11.22", "copilot_cli",
                words="Copilot CLI's 0.8 of the window",
            ),
        ),
        places={"copilot_cli": Place("~/.copilot/session-state", ("*/events.jsonl", "*.jsonl"))},
    ),
    _agent("crush", "Crush", "<project>/.crush", policies=("crush",)),
    Agent("cursor", "Cursor", ("cursor", "cursor_db"), places={
        "cursor": Place("~/.cursor/projects", ("*/agent-transcripts/*/*.jsonl",)),
        "cursor_db": Place("~/.config/Cursor/User/globalStorage"),
    }),
    _agent("factory_droid", "Factory Droid", "~/.factory/sessions", "*/*.jsonl"),
    Agent(
        name="goose", label="goose", rank=11, asked=TURN_START, formats=("goose",),
        policies=("goose", "goose_tool_pairs"),
        facts={"goose": PolicyFacts(GOOSE), "goose_tool_pairs": PolicyFacts(edit=OTHER)},
        triggers=(Trigger("goose", "goose", "policies 11.8", "goose", words="goose's 0.8 of the window"),),
    ),
    _agent("grok_cli", "Grok CLI", "~/.grok/sessions", "*/*/chat_history.jsonl"),
    _agent("hermes", "Hermes", "~/.hermes", "state.db", "sessions/*.json*"),
    _agent("kimi_code", "Kimi Code", "~/.kimi-code/sessions", "*/*/agents/*/wire.jsonl"),
    # It saves its transcript and names the file in the summary (seeds 1).
    Agent("learn_claude_code", "learn-claude-code", ("role_content",), api="anthropic", is_chained=True),
    Agent(
        name="letta", label="Letta", rank=10, formats=("letta",), policies=("letta",),
        triggers=(
            Trigger(
                "letta", "Letta", "policies 11.9", "letta",
                note="Counts the messages; the system prompt and the tools are not in its estimate here.",
            ),
        ),
    ),
    Agent("mini_swe_agent", "mini-SWE-agent", ("mini_swe_agent",), ("mini_swe_agent_summary",)),
    _agent("qwen_code", "Qwen Code", "~/.qwen/projects", "*/chats/*.jsonl"),
    # Its transcripts have the format of Cline.
    Agent(
        name="roo", label="Roo Code", rank=7, policies=("roo_code",), facts={"roo_code": PolicyFacts(ROO)},
        triggers=(Trigger("roo", "Roo Code", "policies 11.4", "roo_code"),),
    ),
    Agent("swe_agent", "SWE-agent", ("swe_agent",), ("swe_agent_last_n",)),
    _agent(
        "vscode_chat", "VS Code Copilot Chat", "~/.config/Code/User/workspaceStorage", "*/chatSessions/*.json*",
        policies=("copilot_chat",),
    ),
)  # fmt: skip
