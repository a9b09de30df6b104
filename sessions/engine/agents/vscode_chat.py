"""VS Code's chat with Copilot: its transcripts, and when it summarises (formats 54, policies 11.15)."""

from __future__ import annotations

from sessions.engine.agents.agent import Agent, Place

AGENT = Agent(
    name="vscode_chat", label="VS Code Copilot Chat", formats=("vscode_chat",), policies=("copilot_chat",),
    places={"vscode_chat": Place("~/.config/Code/User/workspaceStorage", ("*/chatSessions/*.json*",))},
)  # fmt: skip
