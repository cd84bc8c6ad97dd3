# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The page: one HTML file that asks the network for nothing and runs no script.

Everything that came from outside goes through autoescaping, with invisible characters made visible
on the way; a content security policy in the page allows its one style sheet and forbids the rest.

The drawings are SVG of our own templates, not of a plotting library. Those that are kept either
need a script in the page (plotly, altair), which the policy forbids, or draw for paper
(matplotlib: no dark mode, no roles and titles for what a mark means, 60 MB for lines and circles).
"""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from robot_agent_harness.report.findings import evidence_lines, findings, measured
from robot_agent_harness.report.map_chart import draw_map, Pose
from robot_agent_harness.report.story import Story
from robot_agent_harness.report.time_chart import draw_time, known
from robot_agent_harness.report.values import (
    brief,
    compact,
    counted,
    metres,
    moment,
    plain,
    pretty,
    printable,
    seconds,
    worded,
)

HEADING_MAX_CHARS = 300
"""An instruction that is longer is no heading: all of it opens below."""
DECISIONS_MAX = 300
"""Decisions shown of one mission, the newest: more than this nobody reads on one page."""
STYLE = 'report.css'
_OUTCOMES = {
    'achieved': ('good', 'Achieved'),
    'not_achieved': ('bad', 'Not achieved'),
    'unknown': ('unsure', 'Unknown'),
    None: ('unsure', 'No end recorded'),
}
_STATES = {
    'SUCCEEDED': ('good', '✓', 'verified'),
    'FAILED': ('bad', '✗', 'failed'),
    'UNKNOWN': ('unsure', '?', 'unknown'),
}


@dataclass(frozen=True, slots=True)
class Source:
    """What the page is about."""

    journal: str
    events: int
    missions_left_out: int
    earlier_file: str | None = None
    """The file that the journal goes on from, where a rotation began it."""
    damage: str | None = None
    """What shows that records were altered or lost; None where nothing does, or nobody looked."""


def render(stories: list[Story], source: Source) -> str:
    """Return the page as HTML."""
    environment = _environment()
    style = _style()
    return environment.get_template('report.html.j2').render(
        missions=[_mission(story) for story in stories],
        source=source,
        style=Markup(style),
        style_hash=b64encode(sha256(style.encode()).digest()).decode(),
    )


def render_mission(story: Story, *, left_out: int) -> str:
    """Return one mission's part of the page, for a page that has the style sheet already.

    :param left_out: how many records of it the story does not have.
    """
    template = _environment().get_template('mission.html.j2')
    return template.render(mission=_mission(story), story=story, index=1, left_out=left_out)


def render_map(story: Story, *, here: Pose | None) -> str:
    """Return the map alone, or nothing where no position is known.

    :param here: where the robot is now, in metres and radians.
    """
    drawn = draw_map(story, here=here)
    if drawn is None:
        return ''
    return _environment().get_template('map.svg.j2').render(map=drawn, index='live')


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader('robot_agent_harness.report'),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        'brief': brief,
        'compact': compact,
        'counted': counted,
        'metres': metres,
        'moment': moment,
        'plain': plain,
        'pretty': pretty,
        'seconds': seconds,
        'worded': worded,
        'known': known,
        'measured': measured,
        'evidence_lines': lambda action: list(evidence_lines(action)),
        'look': _look,
    }
    return environment


def _style() -> str:
    return (Path(__file__).parent / 'templates' / STYLE).read_text(encoding='utf-8')


def _mission(story: Story) -> dict[str, Any]:
    kind, told = _OUTCOMES.get(story.outcome, ('unsure', worded(story.outcome or '')))
    asked = story.instruction or ''
    return {
        'heading': _heading(story),
        'asked': asked if len(asked) > HEADING_MAX_CHARS else None,
        'story': story,
        'outcome': (kind, told) if story.mission_id is not None else None,
        'findings': list(findings(story)),
        'map': draw_map(story),
        'time': draw_time(story),
        'actions_left_out': len(story.actions) - len(story.shown_actions),
        'turns': story.turns[-DECISIONS_MAX:],
        'turns_left_out': max(0, len(story.turns) - DECISIONS_MAX),
    }


def _heading(story: Story) -> str:
    told = story.instruction or story.mission_id or 'Calls outside missions'
    return told if len(told) <= HEADING_MAX_CHARS else f'{told[:HEADING_MAX_CHARS]}…'


def _look(state: str) -> tuple[str, str, str]:
    """Return how a state is shown: class, sign, word."""
    return _STATES.get(state, ('unsure', '…', brief(state).lower()))


def _shown(value: Any) -> Any:
    if isinstance(value, str) and not isinstance(value, Markup):
        return printable(value)
    return value
