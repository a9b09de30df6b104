"""Agents of which it is known what they write, where they keep it and how they compact, and no trigger of their own."""

from __future__ import annotations

from sessions.engine.agents.agent import Agent, Place, PolicyFacts


def _agent(name: str, label: str, folder: str, *patterns: str, policies: tuple[str, ...] = ()) -> Agent:
    """An agent of one format, which bears its name."""
    return Agent(name, label, (name,), policies, places={name: Place(folder, patterns)})


AGENTS = (
    Agent("aider", "aider", ("aider",), ("aider",), facts={"aider": PolicyFacts(counts="tokens of its chat history")}),
    _agent("amp", "Amp", "~/.local/share/amp/threads", "T-*.json"),
    _agent("antigravity", "Antigravity", "~/.gemini/antigravity", "brain/*/.system_generated/logs/transcript.jsonl"),
    Agent("browser_use", "Browser Use", ("browser_use",), ("browser_use",)),
    _agent("crush", "Crush", "<project>/.crush", policies=("crush",)),
    Agent("cursor", "Cursor", ("cursor", "cursor_db"), places={
        "cursor": Place("~/.cursor/projects", ("*/agent-transcripts/*/*.jsonl",)),
        "cursor_db": Place("~/.config/Cursor/User/globalStorage"),
    }),
    _agent("factory_droid", "Factory Droid", "~/.factory/sessions", "*/*.jsonl"),
    _agent("grok_cli", "Grok CLI", "~/.grok/sessions", "*/*/chat_history.jsonl"),
    _agent("hermes", "Hermes", "~/.hermes", "state.db", "sessions/*.json*"),
    _agent("kimi_code", "Kimi Code", "~/.kimi-code/sessions", "*/*/agents/*/wire.jsonl"),
    # It saves its transcript and names the file in the summary (seeds 1).
    Agent("learn_claude_code", "learn-claude-code", ("role_content",), api="anthropic", is_chained=True),
    Agent("mini_swe_agent", "mini-SWE-agent", ("mini_swe_agent",), ("mini_swe_agent_summary",)),
    _agent("qwen_code", "Qwen Code", "~/.qwen/projects", "*/chats/*.jsonl"),
    Agent("swe_agent", "SWE-agent", ("swe_agent",), ("swe_agent_last_n",)),
    _agent(
        "vscode_chat", "VS Code Copilot Chat", "~/.config/Code/User/workspaceStorage", "*/chatSessions/*.json*",
        policies=("copilot_chat",),
    ),
)  # fmt: skip
