"""Thin Celery tasks: they call services.  Views and the CLI enqueue; services never import this module."""

from __future__ import annotations

import logging
import uuid
from typing import TYPE_CHECKING, Any

from celery import shared_task
from celery.signals import worker_ready
from django.db import OperationalError, close_old_connections
from kombu.exceptions import OperationalError as BrokerUnreachable

from sessions.services import jobs, summary_jobs, sweep_runs
from sessions.services.ingest import UploadDeleted, ingest
from sessions.services.model_access import environment_access

if TYPE_CHECKING:
    from collections.abc import Iterable

log = logging.getLogger(__name__)


@shared_task(
    acks_late=True,
    reject_on_worker_lost=True,
    ignore_result=True,
    autoretry_for=(OperationalError,),
    retry_backoff=True,
    max_retries=3,
)
def ingest_upload(upload_id: str) -> None:
    """Read one stored upload; harmless when sent twice."""
    try:
        ingest(upload_id=uuid.UUID(upload_id))
    except UploadDeleted:
        log.info("upload %s was deleted before it was read", upload_id)


def enqueue(upload_ids: Iterable[uuid.UUID]) -> None:
    """Send a task for each upload.  A broker that is away loses nothing: the job row is sent again later."""
    for upload_id in upload_ids:
        try:
            ingest_upload.delay(str(upload_id))
        except BrokerUnreachable:
            log.exception("the task of upload %s could not be sent; it will be sent again", upload_id)


@shared_task(acks_late=True, ignore_result=True)
def write_summaries(job_id: str) -> None:
    """Have the summaries of a job written with the installation's key; harmless when sent twice."""
    summary_jobs.run(job_id=uuid.UUID(job_id), access=environment_access())


def send_summaries(job_id: uuid.UUID) -> None:
    """Send the task of a summary job; a broker that is away leaves it to be started again by hand."""
    try:
        write_summaries.delay(str(job_id))
    except BrokerUnreachable:
        log.exception("the task of summary job %s could not be sent", job_id)


@shared_task(
    acks_late=True, reject_on_worker_lost=True, ignore_result=True, autoretry_for=(OperationalError,), max_retries=3
)
def run_sweep(run_id: str) -> None:
    """Sweep what is left of a run; harmless when sent twice."""
    sweep_runs.run(run_id=uuid.UUID(run_id))


def send_sweep(run_id: uuid.UUID) -> None:
    """Send the task of a sweep; a broker that is away leaves it to be found by who waits for it."""
    try:
        run_sweep.delay(str(run_id))
    except BrokerUnreachable:
        log.exception("the task of sweep %s could not be sent; it will be sent again", run_id)


def requeue_lost() -> None:
    """Send again what lost its worker or its task; cheap enough for every poll of the upload table."""
    enqueue(jobs.requeue_lost())


def requeue_lost_sweeps() -> None:
    """The same for sweeps: asked by the page that waits for one."""
    for run_id in sweep_runs.requeue_lost():
        send_sweep(run_id)


@worker_ready.connect
def _requeue_on_start(**_: Any) -> None:
    """A worker that starts takes up what its predecessor dropped."""
    requeue_lost()
    requeue_lost_sweeps()
    close_old_connections()
