"""The closed list of causes, in words, what to change about each, and a row of what speaks for one (verdicts 2)."""

from __future__ import annotations

from dataclasses import dataclass

MEDIA = "image_or_document_as_text"
DOUBLE = "usage_double_counted"
ADDED = "other_usage_added"
STALE = "usage_stale_after_compaction"
CACHE = "cache_tokens_left_out"
UNSENT = "unsent_text_counted"
REASONING = "reasoning_counted_twice"
WINDOW = "wrong_window"
FALLBACK = "fallback_window"
RESERVE = "output_reserve"
SWITCH = "smaller_model"
CHANGED = "model_changed"
OVERHEAD = "overhead_near_threshold"
RETAINED = "retained_through_compaction"
GREW = "summary_as_large"
REFILLED = "refilled"
UNDONE = "compaction_undone"
ONE_MESSAGE = "one_message_overflowed"
BODY = "body_size_limit"
MEDIA_LIMIT = "media_limit"
SUMMARY_LONG = "summary_request_too_long"
FAILED = "compaction_failed"
NOTHING = "nothing_to_compact"
REQUEST_FAILED = "request_failed"
CUT_REPLY = "reply_cut_off"
PLACEHOLDER = "placeholder_summary"
CUT = "prompt_cut_by_server"
NOT_FIRED = "stated_trigger_not_fired"
AFTER_REFUSAL = "after_refusal"
NO_USAGE = "no_usage_reported"
NOT_ASKED = "asked_at_turn_end"
RESUMED = "not_started_after_resume"
OFF = "off_or_not_started"
OWN_REASON = "own_reason"
MANUAL = "manual"
REACHED = "threshold_reached"
CANNOT_TELL = "cannot_tell"
CAUSES = {
    MEDIA: "image or document counted as text",
    DOUBLE: "usage counted more than once",
    ADDED: "another call's usage added",
    STALE: "usage from before the last compaction",
    CACHE: "cached tokens not counted",
    UNSENT: "text counted that was not sent",
    REASONING: "reasoning counted twice",
    WINDOW: "wrong context window",
    FALLBACK: "fallback context window",
    RESERVE: "no room left for the reply",
    SWITCH: "change to a smaller model",
    CHANGED: "change of the model",
    OVERHEAD: "fixed overhead near the threshold",
    RETAINED: "last compaction kept too much",
    GREW: "summary as large as what it replaced",
    REFILLED: "filled again at once",
    UNDONE: "the compaction was undone",
    ONE_MESSAGE: "one message overflowed",
    BODY: "request body too large",
    MEDIA_LIMIT: "picture or document over a limit",
    SUMMARY_LONG: "summary request too long",
    FAILED: "compaction failed",
    NOTHING: "nothing to compact",
    REQUEST_FAILED: "ended by an error or a limit",
    CUT_REPLY: "the reply was cut off",
    PLACEHOLDER: "the summary is a placeholder",
    CUT: "the server cuts the prompt",
    NOT_FIRED: "the trigger of the request did not fire",
    AFTER_REFUSAL: "the provider refused the request",
    NO_USAGE: "no usage reported",
    NOT_ASKED: "trigger checked only when a turn ends",
    RESUMED: "not started after a resume",
    OFF: "automatic compaction off, or not started",
    OWN_REASON: "the agent's own reason",
    MANUAL: "manual",
    REACHED: "normal: threshold passed",
    CANNOT_TELL: "unknown",
}
WRONG_COUNT = frozenset({MEDIA, DOUBLE, ADDED, STALE, CACHE, UNSENT, REASONING, WINDOW, FALLBACK})
"""Causes that say that a counter was wrong."""
UNDECIDED = frozenset({CANNOT_TELL, OFF, RESUMED})
"""Causes that leave open which of several it was: their certainty is unknown, whatever speaks for them."""
CHANGES = {
    MEDIA: "Crop pictures before they are sent, or update the agent.",
    DOUBLE: "The count is wrong, not the context: update the agent, or what reports its usage.",
    ADDED: "Turn the advisor off for long sessions, or update the agent.",
    STALE: "Update the agent: it compacts again on a usage from before.",
    CACHE: "Have the proxy report cached tokens, or set a lower threshold.",
    REASONING: "Update the agent, or raise its threshold.",
    WINDOW: "Set the model's real context window.",
    FALLBACK: "Name the model's context window in the agent's configuration, or load a server of your own with more.",
    RESERVE: "Lower the reply's maximum.",
    SWITCH: "Switch back and compact there, then change to the smaller model.",
    CHANGED: "Change the model in a new session, or right after a compaction.",
    OVERHEAD: "Turn off tools and shorten memory files.",
    RETAINED: "Keep less through a compaction.",
    GREW: "Start a new session, or compact with another model.",
    REFILLED: "Read the largest results in parts.",
    UNDONE: "Start a new session from the summary: this one loads the old history again.",
    ONE_MESSAGE: "Read it in parts, or limit the tool's output.",
    MEDIA_LIMIT: "Go back to before it, or compact, and send it smaller.",
    BODY: "Send less in one request: start a new session, or leave large results out.",
    SUMMARY_LONG: "Compact earlier: the summary's call needs room as well.",
    PLACEHOLDER: "Give the agent again what the summary lacks.",
    CUT_REPLY: "Raise the reply's maximum, or leave more room for it.",
    CUT: "Raise the server's context length, and set the agent's window to it.",
    NOT_FIRED: "Compact in the client: the provider did not.",
    AFTER_REFUSAL: "Set a threshold under the provider's limit.",
    NO_USAGE: "Use an endpoint that reports usage, or compact by command.",
    NOT_ASKED: "End long runs earlier, or compact by command.",
    RESUMED: "Compact by command right after a resume.",
    OFF: "Check that automatic compaction is on.",
}
"""What a user can change, in a sentence; causes that are not listed need no change, or none is known."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """One row: its sentence, where it stands, its figure, unit and label; ``step`` of the account, "" outside it."""

    text: str
    request: int | None = None
    message: int | None = None
    figure: int | float | None = None
    unit: str = ""
    label: str = ""
    step: str = ""
