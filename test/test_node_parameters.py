# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameters that change while the node runs, and those that do not, over DDS."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: . ./env.sh')

from node_rig import harness, NODE, Probe
from rcl_interfaces.srv import (
    DescribeParameters,
    GetParameters,
    SetParameters,
    SetParametersAtomically,
)
from rclpy.parameter import Parameter as RclParameter
from rclpy.parameter import parameter_value_to_python

from robot_agent_harness.parameters import PARAMETERS


class Live:
    """One node for the whole module."""

    def __init__(self, probe: Probe, journal: Any, node: Any) -> None:
        self.probe = probe
        self.journal = journal
        self.node = node

    def set(self, **given: Any) -> list[tuple[bool, str]]:
        """Set parameters one by one, and return what is said of each."""
        request = SetParameters.Request(parameters=messages(given))
        answer = self.probe.call(SetParameters, f'{NODE}/set_parameters', request)
        return [(result.successful, result.reason) for result in answer.results]

    def set_together(self, **given: Any) -> tuple[bool, str]:
        request = SetParametersAtomically.Request(parameters=messages(given))
        name = f'{NODE}/set_parameters_atomically'
        result = self.probe.call(SetParametersAtomically, name, request).result
        return result.successful, result.reason

    def value(self, name: str) -> Any:
        request = GetParameters.Request(names=[name])
        (value,) = self.probe.call(GetParameters, f'{NODE}/get_parameters', request).values
        return parameter_value_to_python(value)


def messages(given: dict[str, Any]) -> list[Any]:
    return [
        RclParameter(name.replace('__', '.'), value=value).to_parameter_msg()
        for name, value in given.items()
    ]


@pytest.fixture(scope='module')
def live(tmp_path_factory) -> Iterator[Live]:
    path = tmp_path_factory.mktemp('parameters') / 'j.db'
    probe = Probe()
    try:
        with harness(path, mcp__enabled=False) as node:
            node.says('ready: ')
            yield Live(probe, path, node)
    finally:
        probe.close()


def test_every_parameter_says_what_it_takes_and_whether_it_may_change(live):
    names = [parameter.name for parameter in PARAMETERS]
    described = live.probe.call(
        DescribeParameters,
        f'{NODE}/describe_parameters',
        DescribeParameters.Request(names=names),
    )
    for parameter, told in zip(PARAMETERS, described.descriptors, strict=True):
        assert (told.name, told.description) == (parameter.name, parameter.description)
        assert told.read_only == bool(parameter.fixed)
        assert (parameter.fixed or parameter.live) in told.additional_constraints
        limits = [*told.integer_range, *told.floating_point_range]
        assert bool(limits) == (parameter.minimum is not None)
        if limits:
            assert limits[0].from_value == parameter.minimum
        if parameter.choices:
            assert parameter.allowed in told.additional_constraints


def test_a_change_is_taken_told_in_the_log_and_read_back(live):
    assert live.set(navigation__xy_tolerance_m=0.5) == [(True, '')]
    live.node.says(r'parameters changed: navigation\.xy_tolerance_m = 0\.5')
    assert live.value('navigation.xy_tolerance_m') == 0.5


def test_a_whole_number_is_taken_for_a_number_at_run_time_too(live):
    assert live.set(navigation__execution_timeout_s=200) == [(True, '')]
    assert live.value('navigation.execution_timeout_s') == 200.0


@pytest.mark.parametrize(
    ('given', 'why'),
    [
        (
            {'navigation__xy_tolerance_m': 50.0},
            'parameter navigation.xy_tolerance_m: must be from 0.01 to 10, got 50.0',
        ),
        (
            {'mission__max_steps': 2.5},
            'parameter mission.max_steps: must be an integer, got 2.5 (float)',
        ),
        (
            {'battery__low_fraction': float('nan')},
            'parameter battery.low_fraction: must be from 0 to 1, got nan',
        ),
        ({'mission__max_setps': 3}, 'parameter mission.max_setps: there is no such parameter'),
        (
            {'journal__path': '/tmp/other.db'},
            'parameter journal.path: it cannot be changed while the node runs:'
            ' the journal was opened with it',
        ),
        ({'model__provider': 'gpt'}, 'parameter model.provider: must be one of none, scripted,'),
        (
            {'use_sim_time': True},
            'parameter use_sim_time: it cannot be changed while the node runs:'
            ' the node was made with it',
        ),
    ],
)
def test_a_change_that_is_not_allowed_is_refused_with_the_reason(live, given, why):
    ((successful, reason),) = live.set(**given)
    assert not successful
    assert reason.startswith(why)


def test_parameters_change_together_or_not_at_all(live):
    before = live.value('navigation.verify_timeout_s'), live.value('mission.max_steps')
    successful, reason = live.set_together(navigation__verify_timeout_s=9.0, mission__max_steps=0)
    assert not successful
    assert 'mission.max_steps: must be from 1 to 100000, got 0' in reason
    after = live.value('navigation.verify_timeout_s'), live.value('mission.max_steps')
    assert after == before
    assert live.set_together(navigation__verify_timeout_s=9.0, mission__max_steps=7) == (True, '')
    after = live.value('navigation.verify_timeout_s'), live.value('mission.max_steps')
    assert after == (9.0, 7)


def test_a_value_that_is_the_same_may_be_given_so_that_a_whole_file_can_be_loaded(live):
    given = {'robot_id': live.value('robot_id'), 'mcp__enabled': False, 'use_sim_time': False}
    assert live.set(**given) == [(True, '')] * 3
