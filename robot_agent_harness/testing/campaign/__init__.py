# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Random missions with random failures, judged by an oracle that knows where the robot truly is.

:func:`run_campaign` runs many and counts; :func:`run_one` runs the mission of one seed again, the
same way each time. Both take the parameters of a configuration, so that a user can try their own:

    python -m robot_agent_harness.testing.campaign --seed 0 --missions 300
"""

from robot_agent_harness.testing.campaign.report import CampaignReport, MissionVerdict
from robot_agent_harness.testing.campaign.running import run_campaign, run_one

__all__ = ['CampaignReport', 'MissionVerdict', 'run_campaign', 'run_one']
