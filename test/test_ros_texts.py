# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""No text of ours, whatever it holds, keeps a ROS message from being sent."""

from __future__ import annotations

import pytest
from rclpy.serialization import deserialize_message, serialize_message

from robot_agent_harness.action import RunMission
from robot_agent_harness.events import Correlation, SalientEvent
from robot_agent_harness.messages import ros_text
from robot_agent_harness.msg import MissionEvent
from robot_agent_harness.ros.conversions import event_msg, mission_result

WILD, TAME = 'a\ud800\0é', 'a\\ud800\\x00é'


@pytest.mark.parametrize('text', ['', 'plain', 'é 😀', '\\ud800'])
def test_what_ros_can_carry_is_left_as_it_is(text: str) -> None:
    assert ros_text(text) == text


def test_the_result_of_a_mission_arrives_whatever_its_texts_hold() -> None:
    sent = serialize_message(mission_result('unknown', WILD, WILD, WILD))
    told = deserialize_message(sent, RunMission.Result)
    assert (told.outcome, told.reason, told.summary, told.mission_id) == (
        'unknown',
        TAME,
        TAME,
        TAME,
    )


def test_a_record_is_told_whatever_its_ids_and_payload_hold() -> None:
    event = SalientEvent(kind='human_message', message=WILD, details={})
    ids = Correlation(mission_id=WILD, tool_call_id=WILD, action_id=WILD)
    told = deserialize_message(serialize_message(event_msg(1, event, ids, 0)), MissionEvent)
    assert (told.mission_id, told.tool_call_id, told.action_id) == (TAME, TAME, TAME)
