# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The map pose from tf over DDS: frame prefixes, namespaces, simulated time, silent odometry."""

from __future__ import annotations

from collections.abc import Callable
import contextlib
from dataclasses import replace
from typing import Any

import anyio
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: . ./env.sh')

from dds_rig import call, client, new_namespace
from transforms_rig import listening, tf_robot, url_of

from robot_agent_harness.journal.reader import JournalReader
from robot_agent_harness.resources import config_path
from robot_agent_harness.skills.registry import load_registry
from robot_agent_harness.testing import check_journal

pytestmark = pytest.mark.anyio

OWN_TF = {'/tf': 'tf', '/tf_static': 'tf_static'}
"""As Nav2's own launch files, and ours."""


async def world(connected: Any, holds: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """Return the first snapshot of which something holds."""
    seen: dict[str, Any] = {}
    try:
        with anyio.fail_after(20.0):
            while not seen or not holds(seen):
                seen = (await call(connected, 'get_world_snapshot'))['snapshot']
                await anyio.sleep(0.05)
    except TimeoutError:
        raise AssertionError(f'it does not hold of {seen}') from None
    return seen


def located(seen: dict[str, Any]) -> bool:
    return bool(seen['map_pose']['availability'] == 'available')


def ready(seen: dict[str, Any]) -> bool:
    navigation = seen['navigation']
    return located(seen) and bool(navigation.get('controller_reachable'))


async def test_frames_with_a_prefix_are_followed_to_the_map(tmp_path):
    namespace = new_namespace()
    with tf_robot(namespace, prefix='robot1/') as robot:
        robot.map_to_odom, robot.x = (2.0, 1.0, 1.5708), 3.0
        with listening(namespace, tmp_path / 'j.db', base_frame='/robot1/base_link') as harness:
            async with client(url_of(harness)) as connected:
                pose = (await world(connected, located))['map_pose']
    assert (pose['source'], pose['frame']) == ('tf', 'map')
    assert (pose['x_m'], pose['y_m'], pose['yaw_rad']) == pytest.approx(
        (2.0, 4.0, 1.571), abs=0.01
    )


async def test_robots_with_prefixes_on_one_tf_topic_know_their_own_frames(tmp_path):
    async with contextlib.AsyncExitStack() as stack:
        seen = []
        for name, x in (('robot1', 1.0), ('robot2', 6.0)):
            namespace = new_namespace()
            robot = stack.enter_context(tf_robot(namespace, prefix=f'{name}/'))
            robot.x = x
            harness = stack.enter_context(
                listening(namespace, tmp_path / name, base_frame=f'{name}/base_link')
            )
            seen.append(await stack.enter_async_context(client(url_of(harness))))
        poses = [(await world(connected, located))['map_pose']['x_m'] for connected in seen]
    assert poses == pytest.approx([1.0, 6.0], abs=0.01)


async def test_robots_with_the_same_frames_in_namespaces_do_not_see_each_others_tf(tmp_path):
    async with contextlib.AsyncExitStack() as stack:
        seen = []
        for x in (1.0, 6.0):
            namespace = new_namespace()
            robot = stack.enter_context(tf_robot(namespace, remap=OWN_TF))
            robot.x = x
            harness = stack.enter_context(listening(namespace, tmp_path / f'{x}', remap=OWN_TF))
            seen.append(await stack.enter_async_context(client(url_of(harness))))
        for _ in range(5):  # each time newer than the last
            poses = [(await world(connected, located))['map_pose']['x_m'] for connected in seen]
            assert poses == pytest.approx([1.0, 6.0], abs=0.01)


async def test_a_simulation_that_starts_over_is_believed_again_at_once(tmp_path):
    """Its new time is hours behind the old one, and tf keeps what is newest."""
    namespace = new_namespace()
    with (
        tf_robot(namespace, simulated_time_s=7200.0) as robot,
        listening(namespace, tmp_path / 'j.db', use_sim_time=True) as harness,
    ):
        async with client(url_of(harness)) as connected:
            await world(connected, located)
            robot.time_s, robot.x = 1.0, 5.0
            after = await world(
                connected, lambda seen: located(seen) and seen['map_pose']['x_m'] > 4.0
            )
            assert after['map_pose']['source'] == 'tf'


async def test_a_robot_whose_odometry_is_silent_at_rest_drives_with_the_shipped_skills(tmp_path):
    """As Nav2's loopback simulator: no odometry before the first command, none a second after the
    last one.
    """
    namespace = new_namespace()
    skills = config_path('skills_loopback.yaml')
    with (
        tf_robot(namespace) as robot,
        listening(namespace, tmp_path / 'j.db', skills_file=skills) as harness,
    ):
        async with client(url_of(harness)) as connected:
            for x in (1.0, 0.0):
                before = await world(connected, lambda seen: ready(seen) and _rests(seen))
                silent = before['odometry']['availability']
                assert silent == 'missing' if x else silent in ('stale', 'available')
                sent = await call(connected, 'navigate_to_pose', x=x, y=0.0)
                assert sent['status'] == 'accepted', sent
                ended = await call(
                    connected, 'wait_for_action', action_id=sent['action_id'], timeout_s=20.0
                )
                assert (ended['state'], ended['reason']) == ('SUCCEEDED', 'verified'), ended
                assert ended['snapshot']['map_pose']['source'] == 'tf'
                told = robot.odometry_sent
                assert told > 10
                await world(connected, lambda seen: seen['odometry']['availability'] == 'stale')
    assert check_journal(tmp_path / 'j.db') == []


async def test_with_the_default_skills_silent_odometry_is_named_as_what_stands_in_the_way(
    tmp_path,
):
    namespace = new_namespace()
    with tf_robot(namespace), listening(namespace, tmp_path / 'j.db') as harness:
        async with client(url_of(harness)) as connected:
            await world(connected, ready)
            refused = await call(connected, 'navigate_to_pose', x=1.0, y=0.0)
    assert refused['status'] == 'precondition_changed'
    assert [check['name'] for check in refused['failed_checks']] == ['odometry_age']
    with JournalReader(tmp_path / 'j.db') as reader:
        assert list(reader.events(type='ROBOT_ACTION_STARTED')) == []


def test_the_shipped_skills_for_silent_odometry_differ_from_the_usual_in_nothing_else():
    usual, silent = (
        {skill.name: skill.managed for skill in load_registry(config_path(name)).skills}
        for name in ('skills.yaml', 'skills_loopback.yaml')
    )
    managed = {name: action for name, action in usual.items() if action is not None}
    assert len(managed) > 1
    for name, action in managed.items():
        limits = replace(action.preconditions, odometry_max_age_s=None)
        assert silent[name] == replace(action, preconditions=limits), name


def _rests(seen: dict[str, Any]) -> bool:
    motion = seen['motion']
    return bool(motion['availability'] == 'available' and motion['at_rest'])
