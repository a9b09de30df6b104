"""What is stored: uploads and jobs, sessions, messages, media, links."""

from __future__ import annotations

from sessions.models.figures import (
    CatchingUp,
    ColumnsRun,
    FiguresRun,
    Purpose,
    SearchedSession,
    SearchPart,
    SearchRun,
    SessionColumns,
    SessionFigures,
    SummaryJob,
    Sweeping,
    SweepRun,
    Writing,
)
from sessions.models.link import LinkedView, ReplayLink, SavedKind, SavedView
from sessions.models.session import SORTS, Session, SessionFacts, SessionKey, SessionQuerySet, TokenLabel
from sessions.models.upload import (
    FAILED,
    MIXED,
    QUEUED,
    UNFINISHED,
    Continuation,
    Job,
    Member,
    MemberStatus,
    Part,
    State,
    Upload,
    Work,
)
from sessions.models.use import AnswerUse, LiveSource, Media, MediaUse, ModelAnswer, ModelPrice, StoppedSource
from sessions.models.viewer import EVERYTHING, ApiToken, Invitation, Scope, Viewer, seen_as, viewer
