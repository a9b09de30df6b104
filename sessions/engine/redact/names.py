"""Names of people by where they stand: beside an address of mail, in settings and logs of git, in lists of users."""

from __future__ import annotations

import re

from sessions.engine.redact.kinds import NAMES, Pattern

_WORD = r"[^\W\d_][\w.'\u2019-]{0,30}"
_MAIL = r"[ \t]{1,4}<(?!(?:no-?reply|do-?not-?reply|git)@)[^<>\s@]{1,64}@[^<>\s]{1,200}>"
"""An address behind a name; not one of a machine."""
_HEADER = (
    r"\b(?i:from|to|cc|bcc|reply-to|sender|author|commit|committer|tagger|maintainer|user|[a-z]{3,12}-by)[\"']?:"
    r"[ \t]{0,12}"
)
_VALUE = r"(?:\"([^\"\n]{2,80})\"|'([^'\n]{2,80})'"
_BARE = r"|([^\s\"'|;&<>`$(){}\[\]]{2,60}))"
_LINE = r"([^\n\"$(){}\[\]<>=]{2,80})"


def _is_name(found: str) -> bool:
    """Whether it is no variable, no marker, and more than signs and figures."""
    return sum(c.isalpha() for c in found) > 1 and not re.search(r"[$\[\]{}]|Not Committed Yet", found)


PEOPLE = (
    Pattern(
        NAMES, "from to cc reply sender author committer tagger maintainer user -by",
        rf"{_HEADER}[\"']?({_WORD}(?:,? {_WORD}){{0,4}})[\"']?{_MAIL}", near=r"<[^<>\s@]{1,64}@",
    ),
    Pattern(
        NAMES, "@",
        rf"(?<![\w@.-])((?=[^\W\d_a-z]){_WORD}(?: (?=[^\W\d_a-z]){_WORD}){{1,3}}){_MAIL}", near=r"<[^<>\s@]{1,64}@",
    ),
    Pattern(
        NAMES, "author committer -by",
        rf"(?:(?<=\n)|\A)[ \t#*/;-]{{0,8}}(?i:author|committer|[a-z]{{3,12}}-by):[ \t]{{1,8}}"
        rf"((?=[^\W\d_a-z]){_WORD}(?: (?=[^\W\d_a-z]){_WORD}){{1,3}})(?=[ \t\r]*(?:\n|\Z))",
    ),
    Pattern(
        NAMES, "user.name",
        rf"\bgit\b[^\n|;]{{0,80}}?\buser\.name[ =]{{1,4}}{_VALUE}{_BARE}", holds=_is_name,
    ),
    Pattern(NAMES, "user.name=", rf"(?:(?<=[\n\t])|\A)user\.name={_LINE}(?=\n|\Z)", holds=_is_name),
    Pattern(
        NAMES, "[user]",
        rf"\[user\]\s{{1,8}}(?:[a-z]+\s?=[^\n]{{0,120}}\s{{1,8}}){{0,4}}name\s?=\s?{_LINE}(?=\n|\Z)",
    ),
    Pattern(
        NAMES, "git_author_name git_committer_name",
        rf"GIT_(?:AUTHOR|COMMITTER)_NAME[\"']?\s?[:=]\s?{_VALUE}{_BARE}", holds=_is_name,
    ),
    # git blame, finger, and the fifth field of /etc/passwd for people, who are numbered from 1000 or, on a Mac, 501.
    Pattern(
        NAMES, "(",
        r"\(([^()\n\d]{2,40}?)\s{1,40}(?:19|20)[0-9]{2}-[01][0-9]-[0-3][0-9] [0-9:]{8} [+-][0-9]{4}\s{1,8}[0-9]{1,7}\)",
        holds=_is_name, near=r"[0-9]{2}:[0-9]{2} [+-][0-9]{4}\s",
    ),
    Pattern(NAMES, "login:", r"Login(?: name)?: \S{1,40}\s{1,40}(?:Name|In real life): ([^\n]{2,80})"),
    Pattern(
        NAMES, ":",
        r"(?<![\w.-])[a-z_][\w.-]{0,31}:[^:\s]{0,200}:(?:50[1-9]|(?!65534)[1-9][0-9]{3,9}):[0-9]{1,10}:"
        r"([^:\n]{2,120}):(?=[/~\[])",
        near=r":[0-9]{1,10}:[0-9]{1,10}:[^:\n]{2,120}:", holds=_is_name,
    ),
    Pattern(
        NAMES, "useradd usermod adduser chfn",
        rf"\b(?:useradd|usermod|adduser|chfn)\b[^\n|;]{{0,120}}?\s(?:-c|-f|--comment|--gecos|--full-name)[ =]{_VALUE})",
        holds=_is_name,
    ),
)  # fmt: skip
