# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Runs missions one after the other, each in a folder and on a virtual time of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
import logging
from pathlib import Path
import tempfile
from typing import Any

from robot_agent_harness.journal.reader import JournalReader
from robot_agent_harness.parameters import check_parameters
from robot_agent_harness.testing.campaign.mission import CampaignMission, PARAMETERS
from robot_agent_harness.testing.campaign.oracle import Oracle
from robot_agent_harness.testing.campaign.plan import draw_plan, Plan
from robot_agent_harness.testing.campaign.report import CampaignReport, MissionVerdict, summarise
from robot_agent_harness.testing.campaign.verdicts import Finding, Limits
from robot_agent_harness.testing.journal_assertions import check_journal
from robot_agent_harness.testing.virtual_time import run_virtual

MEMORY = Path('/dev/shm')
"""Journals are written here where it exists: a disk would be most of a campaign's time."""


def run_campaign(
    seed: int,
    missions: int,
    *,
    parameters: Mapping[str, Any] | None = None,
    progress: Callable[[MissionVerdict], None] | None = None,
) -> CampaignReport:
    """Run the missions of the seeds `seed`, `seed` + 1, and so on.

    :param parameters: of the configuration to try, over the campaign's own (shorter timeouts).
    :param progress: called with each mission's verdict.
    :raises ConfigurationError: a parameter is unknown or out of range.
    """
    verdicts = []
    for number in range(seed, seed + missions):
        verdict = run_one(number, parameters=parameters)
        verdicts.append(verdict)
        if progress is not None:
            progress(verdict)
    return summarise(seed, verdicts)


def run_one(
    seed: int, *, parameters: Mapping[str, Any] | None = None, plan: Plan | None = None
) -> MissionVerdict:
    """Run the mission of one seed.

    :param plan: a mission to run instead of the one drawn from the seed.
    :raises ConfigurationError: a parameter is unknown or out of range.
    :raises RuntimeError: the harness or the campaign itself raised; it names the seed.
    """
    checked = check_parameters({**PARAMETERS, **(parameters or {})})
    plan = plan or draw_plan(seed)
    home = MEMORY if MEMORY.is_dir() else None
    level = logging.root.manager.disable
    logging.disable(logging.CRITICAL)  # failures are the point here; the verdict tells of them
    try:
        with tempfile.TemporaryDirectory(prefix='campaign-', dir=home) as folder:
            mission = CampaignMission(plan, Path(folder), checked)
            try:
                run_virtual(mission.run())
            except Exception as error:
                raise RuntimeError(f'the mission of seed {seed} could not be run') from error
            limits = Limits(
                float(checked['navigation.xy_tolerance_m']),
                float(checked['navigation.yaw_tolerance_rad']),
                float(checked['navigation.verify_timeout_s']),
            )
            return _verdict(plan, mission, limits)
    finally:
        logging.disable(level)


def _verdict(plan: Plan, mission: CampaignMission, limits: Limits) -> MissionVerdict:
    with JournalReader(mission.journal) as reader:
        events = list(reader.events())
    oracle = Oracle(mission.ledger, plan.habits, limits, events)
    oracle.judge()
    broken = [Finding('broken', violation) for violation in check_journal(mission.journal)]
    results = tuple(e.payload['status'] for e in events if e.type == 'TOOL_RESULT_RECORDED')
    return MissionVerdict(
        plan.seed,
        plan.faults,
        tuple(oracle.actions),
        (*oracle.findings, *broken),
        results,
    )
