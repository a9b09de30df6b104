"""Whether a sentence is a standing order, by its mood and by where it stands (decision "What counts as lost")."""

from __future__ import annotations

import re
from itertools import islice

_CODE_SPAN = re.compile(r"`[^`]*`|\[[^\]]*\]\([^)]*\)")
_CODE = re.compile(
    r"=>|[!=]==|&&|\|\||\\n|::|\)\s*\{|[{}]$|^[+@$/\\<\[]|^[\w./-]+\(|\.\w{1,4}:\d+|</|^\||\s\|\s|\bnew Error\("
)
"""Code, logs, rows of tables, tags."""
_ENTRY = re.compile(r"^[a-z][\w-]*(?::[a-z][\w-]*)?: |\(file: ")
"""An entry of a list of skills or tools: what follows describes it."""
_SHOWN = re.compile(
    r"^(?:examples?|e\.g\.|usage|output|symptoms?|(?:root )?cause|fix|solution|workaround|problem|use cases?|bad|good"
    r"|wrong)\b[^:.]{0,20}:",
    re.IGNORECASE,
)
"""What shows a case and is no order."""
_LABEL = re.compile(r"^:?[\s-]*[A-Z`][^:.;]{0,80}?(?::|\s→|\s[—–])\s+(?=\S)")
_WHEN = (
    r"(?:when(?!\s+to\b)(?:ever)?|if|before|after|unless|once|while|during|inside|for|in|on|at|until|where|to|with|by"
    r"|instead|without|because|since|even|given|(?:every|each)\s+time|from|under|within|as|rather)"
)
_CONDITION = re.compile(rf"^{_WHEN}\b", re.IGNORECASE)
_BREAK = re.compile(r"\([^()]*\)|[,:→][\"”’]?\s+|\s->\s+|\s[—–-]\s+|\s(?=(?:always|never)\s)")
_DASH = re.compile(r"\s(?:->|[→—–-])\s+")
"""What an order may follow that is marked or says how to work: "the log is kept apart — keep that name"."""
MAX_BREAKS = 6
_LEAD = re.compile(
    r"^(?:(?:please|also|and|but|so|then|just|or|otherwise|instead|first|finally|generally|important|critical|note|"
    r"remember|explicitly|carefully|strictly|immediately|similarly|therefore|thus|however|still|proactively|"
    r"(?!only|apply|reply|supply|rely)[a-z]{3,}ly|(?:in|by|at|where|when)\s+(?:particular|default|minimum|general|possible|doubt|addition)|(?:yes|no|ok|okay)(?=,))\b[,:]?\s+)+",
    re.IGNORECASE,
)
_ADVERB = re.compile(r"^(?:always|never|only|never\s+ever|do\s+not|don['’]?t|avoid)\b\s*", re.IGNORECASE)
_FORCED = re.compile(
    r"(?:always|do\s+not|don['’]?t)\s+(?!\w+(?:ed|ing|[^s]s)\b)[a-z]+(?:-[a-z]+)*\s+(?:the|an?|all|any|your|it|them|`|[a-z-]+\s+[a-z-]+)",
    re.IGNORECASE,
)
"""What is ordered with a word that can stand before nothing but a verb: "always zero-pad phase numbers"."""
MANNER = frozenset(
    """
    adhere answer assume avoid be behave cite default expect favor favour focus follow format honor honour ignore keep
    limit minimize obey omit prefer preserve prioritize refrain remember reply respect respond speak stay stick stop
    treat use
    """.split()  # noqa: SIM905  readable as a list of words
)
"""Verbs that say how to work: said by a user they bind beyond the step."""
_NOUN_STEPS = frozenset(
    """
    account address base batch branch break build call cap cast change check clean clear commit complete correct
    critique cross cut debug design draft drop end exit export extract file filter force fork go group guard guide
    hash highlight hook import label lead link lint list load log loop map measure mix mock name note number offer
    open order outline output pair pass pause phrase place plan point polish post present print probe prompt publish
    pull push quote reason record reference release report request research return review route scan schedule scope
    separate share sign sort spell split squash stage start stash state store strip structure study support surface
    switch tag target test trace track trigger trust turn type upgrade upload view wait walk watch work wrap
    """.split()  # noqa: SIM905  readable as a list of words
)
"""Verbs that say what to do, and are nouns as well."""
_NOUN_TOO = _NOUN_STEPS | {"answer", "cause", "default", "focus", "format", "limit", "process", "stop"}
STEPS = _NOUN_STEPS.union(
    """
    abort accept acknowledge activate adapt add adjust adopt aim align allow analyze announce append apply archive
    ask assert assign attach attempt audit begin bind bring bump capture carry catch center challenge choose claim
    clarify classify close collect combine come communicate compare comply compress compute configure confirm
    consider consolidate consult continue convert coordinate copy create decide declare defer define delegate delete
    deliver demonstrate deploy derive describe detect determine disable discard disclose discuss dispatch
    distinguish do document double double-check edit elaborate eliminate embed emit enable encode enforce ensure
    enumerate escalate escape establish evaluate examine exclude execute expand explain explore expose extend fail
    fall fetch fill find finish fix flag gather generate get give guess handle hide hold identify illustrate
    implement improve include infer inform inherit initialize inject insert inspect install interpret interview
    invent investigate invoke isolate iterate join judge jump justify learn leave let locate look lower maintain
    make mark match mention merge migrate minimise mirror modify monitor move narrow normalize notify observe
    optimize organize overwrite paraphrase parse pay peek perform pick pin populate prescribe prevent proceed
    produce propose protect prove provide prune put raise re-read re-run reach read rebase rebuild recall recheck
    recommend reconcile reconsider redo reduce refactor refer reflect reformat refuse register reject relay rely
    remain remind remove rename render reorder repeat rephrase replace reproduce require rerun reserve resolve
    restate restore restrict retain retrieve retry reuse revert reword rewrite run sanitize save say search secure
    seek select send serve set shorten show simplify skim skip soften solve spawn specify strive submit substitute
    suggest summarise summarize supply sync tailor take talk tell terminate think throw toggle touch translate
    traverse trim try understand undo unify update validate vary verify warn wire write
    """.split()  # noqa: SIM905  readable as a list of words
)
"""Verbs that say what to do: said by a user they are mostly the step at hand."""
_OBJECT = re.compile(
    r"\s+(?:(?:the|an?|all|any|each|every|your|its?|them|only|new|no|to|for|with|in|on|at|by|if|when|as|before|after|"
    r"from|into|through|until|using|what|where|how|that|this|these|those|directly|relevant|existing|both|one|up|out)\b|[`'\"“@<])"
    r"|(?:\s+(?!(?:is|are|was|were|has|have|can|will|must|should)\b)[\w/-]+){1,3}\s+(?:the|an?|all|any|your|their|its|to|before|"
    r"for|with|[a-z]+ly\W*$)(?!\w)",
    re.IGNORECASE,
)
_FIRST = re.compile(r"(?!use cases?\b)([A-Za-z][A-Za-z-]*)(?=[\s,;—–]|\.?$)(?!\s*[—–-]\s)")
_HEADED = re.compile(
    r"\b(?:rules?|style|conventions?|standards?|principles?|preferences|don['’]?ts)(?:\W*$|\s+for\b)",
    re.IGNORECASE,
)
"""A heading over orders."""
_HOW_TO = re.compile(
    r"^\W*(?:\d+[.)]\W*)?(?:to\s+[a-z]+\b|how\s+(?:it|this)\b|usage\b|known\s+(?:issues?|limitations?)"
    r"|common\s+(?:\w+\s+)?(?:errors?|failures?|issues?|problems?)|prerequisites?\b|set-?up\b|install\w*\b"
    r"|(?:quick|getting)\s?start|troubleshooting|tests?\s+failing)",
    re.IGNORECASE,
)
"""A heading over how a thing is worked, or mended where it fails: what stands under it says how, not what binds."""
_PURPOSE = re.compile(r"^to\s+(?!be\b)[a-z]+\b[^:,]*,", re.IGNORECASE)
"""How a thing is done that one may want: "to work against the local API, set:"."""
_WARNED = re.compile(r"^\W*(?:don['’]?t|do\s+not|avoid|never|bad|wrong|incorrect)\b", re.IGNORECASE)
"""A heading over what is not to be done."""
_THIRD = re.compile(
    r"\b(?:i|it|they|he|she|that|this|there|who|which|users?)(?:['’]\w+)?\s+(?:\w+\s+)?(?:never|always|must|should|only|shall)\b",
    re.IGNORECASE,
)
_OF_THE_WORK = re.compile(r"(?:it|this)\s+(?:must|should)\b(?!\s+(?:be\s+used|have)\b)", re.IGNORECASE)
"""What instructions say of what they speak of: "this must always come from the user"."""
_NARRATED = re.compile(
    r"^(?:(?:now|next|then|so|and|but|finally|first)[,\s]+)?"
    r"(?:i['’]?(?:m|ll|ve|d)?|we['’](?:ll|re|ve)|let me|assistant|tool)\b"
    r"|\bi['’](?:m|ll|ve)\b",
    re.IGNORECASE,
)
_WISH = re.compile(
    r"^(?:i|we)\s+(?:don['’]?t\s+|do\s+not\s+|never\s+|always\s+)?(?:want|need|like|expect|should|must)\b",
    re.IGNORECASE,
)
_STANDS = re.compile(r"\b(?:always|never|ever|every|each|any|whenever|only|all|anything|not|no)\b", re.IGNORECASE)
_FORBIDS = re.compile(
    r"(?:^|[,;:.—–]\s*|\bwe\s+want\s+to\s+)avoid\s+[a-z]"
    r"|(?:^|[,;:.(—–][\"”’]?\s*|\b(?:and|but|also|so|just|then|or|please)\s+)(?:(?:do\s+not|don['’]?t)\s+"
    r"(?!(?:mind|worry|know|think|see|understand|want|need|like|care|feel|have\s+(?:the|a|any))\b)"
    r"|never\s+(?!mind\b|\w+(?:ed|ing|[^s]s)\b))[a-z`]",
    re.IGNORECASE,
)
_MUST = re.compile(
    r"\b(?:must|should|shall|may\s+(?:not|only|explicitly)|ought\s+to)\b(?!\s+(?:have\s+been|be\s+able))"
    r"|(?:\b(?:is|are|be)\s+|^[\w -]{3,40}\s)(?:strictly\s+)?"
    r"(?:required(?!\s+because)|mandatory|forbidden|prohibited|not\s+allowed|insufficient|enforced)\b|\bare\s+rejected\b"
    r"|\b(?:is|are)\s+(?:(?:always|explicitly)\s+(?:allowed|permitted)|acceptable|blocking\s+(?:before|for))\b"
    r"|\bbelongs?\s+in\b"
    r"|^(?:only\s+)?one\b[^.]{0,30}\bper\s+(?:message|line|file|commit|turn|PR|pull request)\b"
    r"|^no\s+(?!(?:longer|such|other|more|need)\b)"
    r"(?!.*\b(?:is|are|has|needed|was|found|available|yet)\b)[\w, \"'“”/-]+[.;]?$"
    r"|^[a-z][^.:`]{3,80}\buses?\s+`code`(?:\s+\w+)?[.;]?$|\bif\b[^.]{3,200}(?::\s*`|,\s+(?:it|that)['’]s\b)"
    r"|\byou\s+(?:can|may)\b.*\bonly\b|^(?:[a-z]+\s){1,2}only[.;]?$"
    r"|^[a-z][^.:]{2,40}:\s+(?:only\s+(?:within|in|inside|from|if|when|by)|allowed)\b",
    re.IGNORECASE,
)
_LOUD = re.compile(
    r"\b(?:MUST|NEVER|ALWAYS|DO NOT|ONLY"
    r"|(?:must|should|may|do|(?<!they )(?<!these )(?<!this )(?<!it )(?:is|are))\s+NOT)\b"
)
_TO_AGENT = re.compile(
    r"\b(?:all|every|each|any|everything|no)\b[^.,;]{0,60}\b(?:must|should)\b"
    r"|\byou\s+(?:\w+\s+)?(?:must|should|shall|may\s+not)\b(?!\s+(?:be\s+able|see|find|get|have)\b)"
    r"|\bwe\s+(?:should|must)\b(?:\s+(?:only|always|never|not)\b|.*\b(?:instead\s+of|rather\s+than|whe[rn]ever)\b)",
    re.IGNORECASE,
)
_YOU_DO = re.compile(
    r"(?:^|[,;:.(—–]\s*|\b(?:and|but|so|then|otherwise)\s+)you\s+"
    r"(?:(?:always|never|only|also|then|first|just|[a-z]+ly|do\s+not|don['’]?t)\s+)?(?P<verb>[a-z-]+)",
    re.IGNORECASE,
)
_STEP = re.compile(
    r"\b(?:now|next|again|this time|today|for now|last|previous|in mind)\b|\bthis(?:\s+\w+)?\W*$"
    r"|\b(?:follow|ignore|keep|stop|use)\s+(?:it|this|that|these|those|them)\b"
    r"|^(?:please\s+)?(?:consider|confirm|alternatively)\b"
    r"|^(?:please\s+)?(?:reply|respond|answer)\s+with\s+(?:(?:exactly|just|only|the\s+exact|the\s+word)\b|\S+\s+only\b)",
    re.IGNORECASE,
)
"""What is asked once: a step, a suggestion, a question in other words, the very words of one reply."""
_REMINDS = re.compile(
    r"\b(?:do\s+not|don['’]?t)\s+(?:forget\b|\w+\s+(?:it|this|that|them)\b|[^.;]*\b(?:now|yet)\W*$)", re.IGNORECASE
)
"""What binds the step alone: a reminder, what forbids something of what was just spoken of, or for the moment."""
_LASTING = re.compile(
    r"\b(?:every|each|any)\s+(?:\w+\s+)?(?:reply|answer|response|message|time|turn|step|change|edit|commit|cycle|run|task|"
    r"session|comment|function|file|test|pull\s+request|PR|decision)\b"
    r"|\b(?:instead\s+of|rather\s+than)\b|,\s+(?:and\s+)?not\b"
    r"|\b(?:before|after|when(?:ever)?|unless)\s+(?:you|every|each|any)\b|\b(?:before|without)\s+\w+ing\b"
    r"|\b(?:going\s+forward|from\s+(?:now|here)\s+on|in\s+(?:the\s+)?future)\b|\bif\s+(?:my|i|the\s+user)\b"
    r"|^(?:when(?:ever)?|before|after|every\s+time)\b",
    re.IGNORECASE,
)
_HELD = re.compile(r"\b(?:when(?:ever)?|if|unless|until|before|after|once|where)\s+(?!(?:so|not)\b)", re.IGNORECASE)
"""When an order of a prompt holds: not only after what went before ("if so")."""
_HEADING = re.compile(r"^#+ ", re.MULTILINE)
_YOU = re.compile(r"\byou\b", re.IGNORECASE)
_YOU_ARE = re.compile(r"[^.!?]{0,150}\bYou are (?:an?|the|acting)\b")
MIN_PROMPT, N_YOU, CHARS_PER_YOU = 1_000, 5, 1_500
"""A text of this length or more with so many "you", and one in so many characters, is a prompt."""
MAX_REQUEST = 1_000
"""Longer texts of a user, and those with headings, are mostly pasted."""
EITHER, MAX_CHOICE = frozenset({"use", "stop", "focus"}), 2
"""Verbs of a choice or of a step: a choice is said in as few words ("use pnpm")."""
MIN_SPACES = 4
"""A line with fewer, and a colon at its end, is a caption."""
GIVEN, PROMPT, ASKED, PASTED = "given", "prompt", "asked", "pasted"
"""How a text binds: every order of it, those that are no bare step, those with a mark of standing, or those that
forbid."""


def binding(text: str, *, user: bool) -> str:
    """How a text binds."""
    if not user:
        return GIVEN
    if len(text) >= MIN_PROMPT:
        n_you = len(_YOU.findall(text))
        is_prompt = _YOU_ARE.match(text) or (n_you >= N_YOU and _HEADING.search(text))
        if is_prompt and n_you * CHARS_PER_YOU >= len(text):
            return PROMPT
    return PASTED if len(text) > MAX_REQUEST or _HEADING.search(text) else ASKED


def plain(sentence: str) -> str:
    """A sentence with one mark for each code span, without emphasis."""
    return _CODE_SPAN.sub("`code`", sentence).replace("**", "").replace("__", "")


def stands(sentence: str, bound: str, heading: str = "", *, entry: bool = False) -> bool:
    """Whether a sentence is a standing order, in a text that binds as ``bound``; ``entry``: in a list of skills."""
    text = plain(sentence)
    if text.endswith(("?", " OR", " AND")) or _CODE.search(text) or _SHOWN.match(text) or _is_caption(text):
        return False
    if _NARRATED.search(text):
        return bool(_WISH.match(text) and _STANDS.search(text))
    third = _THIRD.search(text) is not None and not (bound == GIVEN and _OF_THE_WORK.match(text))
    forbids = _FORBIDS.search(text)
    is_strict = bool(forbids and (bound != PASTED or not forbids.start())) or bool(_LOUD.search(text) and not third)
    verb, is_marked = imperative(text) or ("", False)
    if entry:
        return verb != "use" and (is_strict or is_marked)
    if is_strict:
        return bound == GIVEN or not _reminds(text)
    is_how = bound in (GIVEN, PROMPT) and bool(_HOW_TO.match(heading) or (text.endswith(":") and _PURPOSE.match(text)))
    if verb and (is_how or _WARNED.match(heading)):
        return is_how and (is_marked or bool(_LASTING.search(text)))
    bound = GIVEN if _HEADED.search(heading) else bound
    return bool(bound == GIVEN and verb) or (not third and _said(text, bound, verb, is_marked=is_marked))


def _said(text: str, bound: str, verb: str, *, is_marked: bool) -> bool:
    """Whether what is said binds beyond the step at hand; in instructions, where every order does: without one."""
    if bound == GIVEN:
        return bool(_MUST.search(text)) or _told(text)
    lasts = verb and (is_marked or _LASTING.search(text))
    if bound == PROMPT:
        return bool(lasts or verb in MANNER or (verb and _HELD.search(text)) or _MUST.search(text))
    is_manner = verb in MANNER and (verb not in EITHER or text.count(" ") < MAX_CHOICE)
    return bound == ASKED and bool(_TO_AGENT.search(text) or ((lasts or is_manner) and not _STEP.search(text)))


def _reminds(text: str) -> bool:
    """Whether a text only reminds of a step or forbids one: "don't forget to push", "don't merge it"."""
    rest = _REMINDS.sub("", text)
    return rest != text and not any(one.search(rest) for one in (_LASTING, _FORBIDS, _LOUD))


def _is_caption(text: str) -> bool:
    """Whether a line with a colon at its end only names what follows; a longer one can be an order."""
    return text.endswith(":") and not _LOUD.search(text) and text.count(" ") < MIN_SPACES


def is_entry(line: str) -> bool:
    """Whether a line is an entry of a list of skills: marked sentences bind but for those on when it is used."""
    return bool(_ENTRY.search(line))


def _told(text: str) -> bool:
    """Whether a text says what the agent does: "you keep edits small"."""
    return any(found["verb"].lower() in MANNER | STEPS for found in _YOU_DO.finditer(text))


def imperative(text: str) -> tuple[str, bool] | None:
    """The verb of the order in a text, after labels, conditions and adverbs, and whether an adverb marks it."""
    label = _LABEL.match(text)
    found = _after_conditions(text[label.end() :]) if label else None
    return found or _after_conditions(text)


def _after_conditions(text: str) -> tuple[str, bool] | None:
    text = _LEAD.sub("", text)
    if _CONDITION.match(text):
        breaks = (b for b in _BREAK.finditer(text) if not b.group().startswith("("))
        return next(filter(None, (_verb(text[b.end() :], after=True) for b in islice(breaks, MAX_BREAKS))), None)
    first, *later = map(_verb, _DASH.split(text))
    return first or next((one for one in later if one and (one[1] or one[0] in MANNER)), None)


def _verb(rest: str, *, after: bool = False) -> tuple[str, bool] | None:
    rest = _LEAD.sub("", rest)
    marked = _ADVERB.match(rest)
    rest = rest[marked.end() :] if marked else rest
    found = _FIRST.match(rest)
    verb = found.group(1).lower() if found else ""
    if found is None or (verb not in MANNER | STEPS and not (marked and _FORCED.match(marked.group() + rest))):
        return None
    sure = after or marked or verb not in _NOUN_TOO or _OBJECT.match(rest, found.end(1))
    return (verb, marked is not None) if sure else None
