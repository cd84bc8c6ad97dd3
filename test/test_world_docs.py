# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
from dataclasses import fields
from pathlib import Path
import re

import pytest

from robot_agent_harness.world import Availability, Observed, StaleAfter, WorldSnapshot
from robot_agent_harness.world.projection import DROP_ORDER, LONG_TEXTS

TEXT = (Path(__file__).parents[1] / 'docs' / 'world_snapshot.md').read_text(encoding='utf-8')
OBSERVED = ['map_pose', 'odometry', 'motion', 'navigation', 'battery', 'safety']


def test_the_example_runs(capsys):
    (code,) = re.findall(r'```python\n(.*?)```', TEXT, re.DOTALL)
    exec(compile(code, 'docs/world_snapshot.md', 'exec'), {})
    assert '"map_pose":{"x_m":1.0' in capsys.readouterr().out


def test_the_drop_order_is_documented_in_its_order():
    (paragraph,) = re.findall(r'left out in this order.*?\n\n', TEXT, re.DOTALL)
    named = [name for name in re.findall(r'`([a-z_.]+)`', paragraph) if name in DROP_ORDER]
    assert tuple(named) == DROP_ORDER
    assert f'`{LONG_TEXTS}`' in paragraph


@pytest.mark.parametrize(
    'name',
    [
        *OBSERVED,
        *(f.name for f in fields(Observed)),
        *(a.value for a in Availability),
        'localization_jump',
        'clock_jump',
    ],
)
def test_every_field_and_value_is_documented(name):
    assert f'`{name}`' in TEXT


def test_the_limits_that_are_documented_are_the_defaults():
    table = dict(re.findall(r'^\| `(\w+)` \| [^|]* \| (\S+)', TEXT, re.MULTILINE))
    for field in fields(StaleAfter):
        default = getattr(StaleAfter(), field.name)
        assert table[field.name] == ('never' if default == float('inf') else f'{default:g}')


def test_every_observed_field_of_a_snapshot_is_in_the_table():
    observed = [f.name for f in fields(WorldSnapshot) if str(f.type).startswith('Observed')]
    assert sorted(observed) == sorted(OBSERVED)
