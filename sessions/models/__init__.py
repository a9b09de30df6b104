"""What is stored: uploads and jobs, sessions, messages, media, links."""

from __future__ import annotations

from sessions.models.account import ApiToken, Invitation, Scope
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
from sessions.models.upload import MIXED, UNFINISHED, Continuation, Job, Member, MemberStatus, Part, State, Upload
from sessions.models.use import AnswerUse, LiveSource, Media, MediaUse, ModelAnswer, ModelPrice, StoppedSource
from sessions.models.viewer import EVERYTHING, Viewer, seen_as, viewer
from sessions.models.work import FAILED, QUEUED, Work
