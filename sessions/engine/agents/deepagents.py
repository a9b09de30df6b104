"""deepagents: LangChain's summarization with its own trigger, which keeps what it evicts in a file (policies 10.4).

Its transcripts are LangChain's, and so its trigger stands in that record.
"""

from __future__ import annotations

from sessions.engine.agents._snippet import keep, model, trigger
from sessions.engine.agents.agent import Agent
from sessions.engine.agents.setting import Configuration, Rendering, Setting


def make(setting: Setting) -> Rendering:
    """The agent with a summarization of one's own."""
    when, stays = trigger(setting), keep(setting)
    lines = [f'            model="{model(setting)}",', "            backend=backend,", f"            trigger={when},"]
    if stays:
        lines.append(f"            keep={stays},")
    text = (
        "from deepagents import create_deep_agent\n"
        "from deepagents.backends import FilesystemBackend\n"
        "from deepagents.middleware.summarization import SummarizationMiddleware\n\n"
        'backend = FilesystemBackend(root_dir=".")\n'
        "agent = create_deep_agent(\n"
        f'    model="{model(setting)}",\n    tools=tools,\n    backend=backend,\n    middleware=[\n'
        "        SummarizationMiddleware(\n" + "\n".join(lines) + "\n        ),\n    ],\n)\n"
    )
    cannot = [
        "create_deep_agent brings a summarization of its own, at 0.85 of the input limit: see that yours is used."
    ]
    if not stays:
        cannot.append("What it keeps is the default, 20 messages.")
    return Rendering(text, setting.trigger, cannot)


AGENT = Agent(
    name="deepagents", label="deepagents", policies=("deepagents_summarization",),
    configuration=Configuration(
        file="your agent's Python", language="python", checked="2026-11-22", make=make,
        source="https://reference.langchain.com/python/deepagents/middleware/summarization",
        otherwise="deepagents compacts with a summary; for clearing, add LangChain's middleware.",
        differs="deepagents writes a fresh summary each time and puts what it takes out into a file for the agent.",
    ),
)  # fmt: skip
