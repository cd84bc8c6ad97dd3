# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The manifest: one entry a clause of the design, the contract and the failure cases.

It is data. Each entry names the tests that show its clause, or says why none does yet.
`test_requirements.py` holds it to the tests and the tests to it. It is one long file since it is
one list, in the order of the documents.

- `INV` the invariants (DESIGN 2), `PIECE` what the pieces promise (DESIGN 3), `LAY` the layout
  (DESIGN 4), `DEC` decisions taken (DESIGN 5), `FACT` facts (DESIGN 6), `TRAP` traps (DESIGN 7);
- `CON-CMD`, `CON-ROS`, `CON-PAR`, `CON-MCP`, `CON-JNL`, `CON-SIM` the sections of CONTRACT;
- `K01` to `K38` the kinds of failure met by users.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Requirement:
    """One clause."""

    id: str
    says: str
    """What must hold, in one line and in our own words."""
    tests: tuple[str, ...] = ()
    """Node ids, without parameters, of the tests that show it."""
    later: str | None = None
    """Why no test shows it yet; None where tests do."""
    source: str = ''
    """Document and section."""


@dataclass(frozen=True, slots=True)
class NotAClause:
    """Tests of one file that show something no clause asks for."""

    reason: str
    tests: tuple[str, ...]


def _clause(id_: str, says: str, *tests: str, later: str | None = None) -> Requirement:
    return Requirement(id_, says, tests, later)


def _of(source: str, *clauses: Requirement) -> tuple[Requirement, ...]:
    return tuple(replace(clause, source=source) for clause in clauses)


_DESIGN = (
    *_of(
        'DESIGN, section 2 (the five invariants)',
        _clause(
            'INV-1',
            'Every call that reaches the dispatcher is recorded before it runs and gets exactly'
            ' one recorded result: also when the tool raises, the client leaves, or the process'
            ' dies.',
            'test_dispatcher.py::test_each_call_gets_exactly_one_recorded_result_whatever_happens',
            'test_dispatcher.py::test_a_caller_that_goes_away_does_not_undo_what_it_started',
            'test_dispatcher.py'
            '::test_a_call_that_closing_interrupts_names_its_action_and_says_whether_the_goal_left',
            'test_dispatcher.py::test_a_call_that_closing_keeps_from_starting_is_interrupted',
            'test_recovery.py::test_open_calls_are_answered_and_open_missions_ended',
            'test_kill.py::test_killed_at_any_moment_nothing_is_lost_doubled_or_sent_again',
            'test_fail_closed.py'
            '::test_whatever_a_skill_does_its_call_gets_one_result_that_is_json',
            'test_tracker.py'
            '::test_a_listener_that_fails_leaves_the_action_and_the_other_listeners_alone',
            'test_harness.py::test_the_model_cannot_make_the_loop_wait',
        ),
        _clause(
            'INV-2',
            "SUCCEEDED needs success for the goal's own id and state, observed after it, that"
            ' confirms the outcome.',
            'test_invariants.py::test_success_is_said_only_of_what_was_seen_to_be_so',
            'test_lifecycle.py::test_success_is_reached_from_verification_only',
            'test_recordings.py::test_success_that_no_pose_confirms_stays_unknown',
            'test_campaign.py'
            '::test_300_random_missions_have_no_false_success_and_no_broken_invariant',
            'test_fail_closed.py::test_a_verifier_that_raises_has_shown_nothing',
            'test_tracker.py'
            '::test_a_controller_that_contradicts_itself_confirms_nothing_in_any_order',
            'test_harness.py::test_an_action_of_a_client_supports_no_claim_of_the_model',
        ),
        _clause(
            'INV-3',
            'No goal leaves before its record is on disk; without a working journal nothing new'
            ' moves, while looking goes on and the state shows.',
            'test_invariants.py::test_no_goal_leaves_before_its_start_is_in_the_file',
            'test_invariants.py::test_on_a_full_disk_nothing_new_moves_and_looking_goes_on',
            'test_contract_gaps.py'
            '::test_a_journal_that_cannot_be_written_is_an_error_in_diagnostics',
            'test_journal_failures.py'
            '::test_whatever_fails_when_facts_keep_their_order_and_failures_leave_no_trace',
            'test_fail_closed.py'
            '::test_without_a_journal_nothing_is_sent_and_all_that_happened_is_written_later',
        ),
        _clause(
            'INV-4',
            'A managed action runs only if its declared preconditions hold on a fresh snapshot; a'
            ' failed check is recorded, starts nothing, and is answered with that snapshot.',
            'test_invariants.py::test_a_goal_leaves_exactly_if_everything_that_it_rests_on_holds',
            'test_harness.py'
            '::test_a_decision_whose_world_changed_moves_nothing_and_is_taken_again',
            'test_dds_controller.py::test_with_a_state_that_cannot_be_believed_no_goal_is_sent',
            'test_tracker.py::test_a_goal_that_was_never_seen_to_be_taken_is_not_denied_away',
            'test_harness.py::test_no_goal_goes_out_after_the_model_has_ended_the_mission',
            'test_harness.py::test_no_goal_leaves_after_its_mission_was_called_off',
            'test_harness.py'
            '::test_a_goal_whose_turn_comes_after_a_cancel_is_told_that_the_mission_is_over',
        ),
        _clause(
            'INV-5',
            'Emergency stop and low-level safety do not depend on the package, whatever state it'
            ' is in.',
            'test_invariants.py'
            '::test_nothing_outside_the_simulation_can_command_a_velocity_or_a_stop',
            'test_fail_closed.py'
            '::test_an_emergency_stop_is_seen_while_the_model_hangs_and_the_journal_is_dead',
        ),
    ),
    *_of(
        'DESIGN, section 3 (the pieces)',
        _clause(
            'PIECE-01',
            'Each fact of a snapshot says where it comes from, how old it is and whether it may be'
            ' believed; what is absent is explicit.',
            'test_world_builder.py'
            '::test_before_any_message_every_field_is_missing_and_names_its_source',
            'test_world_builder.py'
            '::test_whatever_the_topics_say_a_snapshot_is_taken_and_is_valid_json',
            'test_world_builder.py::test_a_snapshot_carries_what_the_caller_knows',
            'test_world_samples.py::test_age_is_the_delay_at_reception_plus_steady_time_since',
        ),
        _clause(
            'PIECE-02',
            'Images, point clouds and maps are references with type, size and digest.',
            'test_world_artifacts.py'
            '::test_bytes_become_a_reference_to_a_private_file_that_holds_them',
            'test_world_artifacts.py::test_the_same_bytes_are_stored_once',
            'test_world_artifacts.py::test_a_failed_write_leaves_nothing_behind',
        ),
        _clause(
            'PIECE-03',
            'The projection keeps a byte budget, deterministically, and names what it left out in'
            ' a declared order.',
            'test_projection.py'
            '::test_any_snapshot_in_any_budget_is_bounded_valid_deterministic_and_honest',
            'test_projection.py'
            '::test_a_short_budget_leaves_out_a_prefix_of_the_drop_order_and_says_so',
            'test_projection.py'
            '::test_the_smallest_budget_holds_what_must_stay_of_the_largest_snapshot',
            'test_projection.py'
            '::test_a_full_snapshot_fits_the_default_budget_with_nothing_left_out',
            'test_world_docs.py::test_the_drop_order_is_documented_in_its_order',
        ),
        _clause(
            'PIECE-04',
            'WorldModel: mission-scoped memory of place, activity, variables and history by rules'
            ' alone.',
            'test_world_model.py'
            '::test_the_robot_is_at_a_place_once_it_is_near_and_until_it_is_away',
            'test_world_model.py'
            '::test_a_place_that_nothing_shows_any_more_is_kept_and_said_to_be_the_last_known',
            'test_world_model.py::test_the_activity_is_what_the_snapshot_shows',
            'test_world_model.py::test_only_what_is_declared_is_remembered_of_a_result',
            'test_world_model.py'
            '::test_variables_are_few_and_small_and_the_one_set_longest_ago_goes_first',
            'test_world_model.py'
            '::test_a_decision_is_remembered_with_its_place_and_gets_its_verified_outcome',
            'test_world_model.py::test_the_history_is_a_ring_of_short_texts',
            'test_world_model.py::test_what_cannot_be_taken_in_changes_nothing_and_stops_nobody',
            'test_world_model.py::test_any_value_becomes_a_scalar_that_json_can_hold',
            'test_world_model.py::test_the_same_events_give_the_same_bounded_state',
            'test_world_model.py::test_a_state_cannot_be_changed_by_who_reads_it',
            'test_world_model.py'
            '::test_a_mission_remembers_places_decisions_and_what_skills_declare',
            'test_world_model.py::test_nothing_of_one_mission_is_remembered_in_the_next',
        ),
        _clause(
            'PIECE-05',
            'One door for the model loop and for MCP: it records, validates, checks, dispatches'
            ' and records the one result.',
            'test_harness.py'
            '::test_a_mission_ends_achieved_when_its_last_action_was_seen_to_arrive',
            'test_mcp_server.py::test_a_client_sends_the_robot_and_learns_the_verified_outcome',
        ),
        _clause(
            'PIECE-06',
            'The check compares only declared fields with declared tolerances, and returns every'
            ' comparison with its measure.',
            'test_preconditions.py::test_each_check_stops_the_goal_and_reports_what_it_measured',
            'test_preconditions.py::test_fields_that_are_not_declared_may_change',
            'test_preconditions.py'
            '::test_a_move_from_where_the_robot_faces_is_stale_once_it_faces_elsewhere',
            'test_dispatcher.py::test_a_place_that_was_moved_since_the_decision_stops_the_call',
        ),
        _clause(
            'PIECE-07',
            'The life of an action is a table of steps; no other step is taken.',
            'test_lifecycle.py'
            '::test_only_the_tables_steps_are_taken_and_a_refused_one_changes_nothing',
            'test_lifecycle.py::test_nothing_follows_an_outcome',
            'test_lifecycle.py::test_an_outcome_comes_with_a_terminal_state_and_only_there',
            'test_lifecycle.py'
            '::test_every_state_can_be_left_or_is_final_and_every_one_can_be_reached',
            'test_recordings.py::test_the_states_of_a_success_come_in_the_order_of_the_lifecycle',
        ),
        _clause(
            'PIECE-08',
            'A verifier answers confirmed, disproved or inconclusive, with the evidence.',
            'test_tracker.py::test_every_end_has_its_state_and_its_reason',
            'test_tracker.py'
            '::test_without_trustworthy_state_from_after_the_end_nothing_is_confirmed',
            'test_recordings.py::test_success_at_the_goal_of_the_preempted_one_is_disproved',
            'test_verification.py::test_success_that_contradicts_itself_confirms_nothing',
            'test_verification.py'
            '::test_the_position_tolerance_is_neither_wider_nor_narrower_than_it_says',
        ),
        _clause(
            'PIECE-09',
            'The journal is written by one thread with group commit; `append` returns when the'
            ' event is on disk.',
            'test_journal_store.py'
            '::test_append_returns_gapless_numbers_of_records_that_are_in_the_file',
            'test_journal_store.py::test_concurrent_records_share_commits',
            'test_journal_store.py'
            '::test_what_one_step_of_the_loop_defers_and_then_appends_is_one_commit',
            'test_journal_store.py::test_what_is_deferred_alone_is_written_without_a_further_call',
            'test_journal_store.py::test_the_loop_is_not_held_up_by_the_disk',
            'test_journal_store.py::test_an_append_of_several_records_is_one_transaction',
            'test_journal_store.py'
            '::test_any_mix_of_tasks_gives_a_gapless_chain_in_the_order_of_submission',
            'test_journal_failures.py::test_what_a_killed_writer_said_was_written_is_there',
        ),
        _clause(
            'PIECE-10',
            'A turn starts on a mission, an outcome or something salient: battery low, emergency'
            ' stop, foreign goal, localisation jump, human message.',
            'test_contract_gaps.py::test_what_is_salient_is_recorded_and_starts_a_turn',
            'test_contract_gaps.py'
            '::test_a_flood_of_goals_of_somebody_else_is_one_event_for_each_list',
            'test_harness.py'
            '::test_something_salient_during_an_action_starts_a_turn_and_the_action_goes_on',
            'test_harness.py::test_after_a_disproved_success_the_model_sees_the_measured_error',
            'test_harness.py'
            '::test_a_person_who_speaks_during_an_action_is_heard_at_once_and_it_can_be_called_off',
        ),
        _clause(
            'PIECE-11',
            'One new managed action a decision; further ones get one_managed_action_per_step,'
            ' ordinary tools are answered within the turn.',
            'test_harness.py::test_one_managed_action_a_decision_the_second_gets_its_own_result',
            'test_harness.py::test_ordinary_tools_are_answered_within_the_turn',
            'test_harness.py::test_wrong_arguments_can_be_corrected_within_the_turn',
        ),
        _clause(
            'PIECE-12',
            'Metadata of a skill comes from the decorator or from the YAML file, which wins; it'
            ' never changes the tool.',
            'test_dispatcher.py'
            '::test_what_the_skills_file_does_not_name_stays_as_the_skill_declares_it',
            'test_dispatcher.py::test_a_wrong_skills_file_is_refused_by_name',
            'test_mcp_tools.py::test_arguments_are_described_with_unit_range_and_default',
            'test_mcp_tools.py::test_every_argument_and_result_says_what_it_is',
            'test_mcp_tools.py'
            '::test_descriptions_tell_a_model_that_never_saw_the_robot_what_comes_next',
            'test_world_model.py'
            '::test_what_a_skill_remembers_is_declared_by_the_skill_or_the_file_and_changes_no_tool',
        ),
        _clause(
            'PIECE-13',
            'For the own model loop managed tools gain purpose and expected_outcome, which are'
            ' stripped before execution and recorded.',
            'test_claude_mission.py::test_claude_looks_acts_hears_the_outcome_and_finishes',
            'test_harness.py'
            '::test_a_mission_ends_achieved_when_its_last_action_was_seen_to_arrive',
            'test_prompting.py'
            '::test_intent_is_required_of_managed_tools_alone_and_only_where_the_model_reads',
            'test_prompting.py'
            '::test_intent_that_the_model_leaves_out_is_absent_and_refuses_nothing',
        ),
        _clause(
            'PIECE-14',
            'A mission ends by evidence, not by claim.',
            'test_harness.py::test_a_claim_of_success_is_judged_by_the_action_that_ended_last',
            'test_harness.py'
            '::test_a_claim_is_not_supported_where_the_newest_decision_was_not_carried_out',
            'test_harness.py::test_a_claim_that_nothing_supports_is_not_believed',
            'test_harness.py::test_a_mission_without_any_action_cannot_be_verified',
            'test_harness.py::test_a_mission_cannot_be_finished_under_a_running_action',
            'test_node_topics.py::test_a_mission_that_the_evidence_does_not_support_ends_aborted',
        ),
        _clause(
            'PIECE-15',
            'The context of each turn is built anew and bounded in bytes: a long mission costs no'
            ' longer prompts and no memory, and a planner of the user decides how it is put.',
            'test_prompting.py::test_a_prompt_is_mission_evidence_memory_decisions_and_world',
            'test_prompting.py::test_without_a_world_model_the_prompt_says_that_nothing_is_kept',
            'test_prompting.py'
            '::test_a_turn_is_told_nothing_of_what_was_said_and_thought_in_an_earlier_one',
            'test_prompting.py::test_a_text_is_bounded_in_bytes_as_json_and_as_it_is',
            'test_prompting.py'
            '::test_whatever_is_said_a_prompt_stays_within_its_bytes_and_its_sections',
            'test_prompting.py'
            '::test_the_newest_decision_is_shown_with_all_its_details_however_long',
            'test_prompting.py::test_prompt_and_memory_are_flat_over_200_steps',
            'test_prompting.py'
            '::test_a_prompt_grows_no_more_after_step_10_however_long_or_short_the_texts_are',
            'test_prompting.py::test_the_same_mission_is_told_in_the_same_words',
            'test_prompting.py'
            '::test_the_documented_planner_of_ones_own_decides_what_the_model_reads',
            'test_prompting.py::test_a_planner_that_fails_ends_the_mission_and_nothing_else',
        ),
    ),
    *_of(
        'DESIGN, section 4 (layout)',
        _clause(
            'LAY-1',
            'Dependencies run one way, and only `ros/` knows ROS; the test run holds it.',
            'test_contract_gaps.py::test_dependencies_run_one_way',
        ),
        _clause(
            'LAY-2',
            'What lies outside `ros/` installs with pip and runs without ROS.',
            'test_packaging.py::test_core_imports_without_ros',
            'test_packaging.py::test_a_wheel_holds_every_module_and_every_shipped_file',
            'test_cli.py::test_without_ros_a_node_says_what_to_source',
            'test_cli.py::test_without_a_library_it_says_which_and_where_to_install_it',
            'test_node_start.py::test_what_is_not_installed_is_named',
            'test_node_start.py::test_a_fault_of_ours_at_the_start_is_the_last_line_too',
            'test_cli.py::test_help_needs_neither_ros_nor_anything_heavy',
        ),
        _clause(
            'LAY-3',
            'One ament_cmake package generates the interfaces and installs the modules beside'
            ' them.',
            'test_packaging.py::test_package_xml_names_what_colcon_and_rosdep_need',
            'test_packaging.py::test_package_xml_declares_every_ros_package_that_is_imported',
            'test_packaging.py::test_cmake_generates_every_interface_file',
            'test_setup_env.py::test_modules_and_messages_form_one_package_from_anywhere',
        ),
        _clause(
            'LAY-4',
            'Real ROS 2 comes from pinned wheels whose two wrong paths are mended, or from a'
            ' sourced installation.',
            'test_setup_env.py::test_wrong_paths_in_the_wheels_are_mended',
            'test_setup_env.py::test_no_wrong_path_is_left_in_this_environment',
            'test_setup_env.py::test_a_sourced_installation_is_recognised',
            'test_setup_env.py::test_our_own_environment_is_not_a_sourced_installation',
            'test_setup_env.py::test_a_workspace_without_rclpy_is_no_installation',
            'test_packaging.py::test_requirements_give_a_reason_and_are_locked_with_hashes',
            'test_packaging.py::test_lock_files_of_one_environment_agree',
            'test_packaging.py::test_setup_cfg_asks_for_no_more_than_the_lock_files_hold',
        ),
        _clause(
            'LAY-5',
            'The underlay is built only where the real package is absent, and invisible to a'
            " user's colcon.",
            'test_packaging.py::test_underlay_is_invisible_in_a_users_workspace',
        ),
        _clause(
            'LAY-6',
            'Callbacks of rclpy only convert and hand over; newest values replace each other'
            ' without locks.',
            'test_world_builder.py::test_one_thread_may_observe_while_the_loop_captures',
            'test_node_nav2.py::test_feedback_is_coalesced_and_ends_with_the_newest',
        ),
        _clause(
            'LAY-7',
            'Time and ids come from injected sources.',
            'test_world_clock.py::test_the_fake_clocks_step_apart_and_steady_time_never_goes_back',
            'test_world_clock.py::test_a_fake_clock_may_follow_a_loop',
            'test_world_clock.py::test_sequential_ids_count_each_kind',
        ),
        _clause(
            'LAY-8',
            'A recorded mission replays exactly.',
            'test_replay.py::test_every_recorded_run_replays_identically',
            'test_replay.py'
            '::test_the_recorded_runs_show_every_reason_but_that_of_a_journal_that_cannot_be_written',
            'test_replay.py::test_random_missions_under_faults_replay_identically',
            'test_replay.py'
            '::test_a_call_that_waited_while_the_wall_clock_was_set_back_replays_identically',
            'test_replay.py'
            '::test_a_look_of_somebody_who_waits_comes_before_the_feedback_that_followed_it',
            'test_replay.py::test_hundreds_of_random_missions_under_faults_replay_identically',
            'test_replay.py'
            '::test_a_journal_read_in_the_middle_of_a_run_replays_identically_up_to_there',
            'test_replay.py'
            '::test_a_killed_run_is_told_to_end_in_its_middle_and_the_next_start_is_whole',
            'test_replay.py'
            '::test_what_is_made_before_the_end_of_a_killed_run_is_still_a_difference',
            'test_replay.py::test_a_changed_record_of_a_killed_run_is_found',
            'test_replay.py::test_a_changed_record_is_found_where_it_was_changed',
            'test_replay.py::test_a_changed_input_shows_in_what_follows_from_it',
            'test_replay.py::test_a_harness_with_another_rule_is_found',
            'test_replay.py::test_a_harness_that_checks_otherwise_is_found',
        ),
    ),
    *_of(
        'DESIGN, section 5 (decisions already taken)',
        _clause(
            'DEC-01',
            'The first terminal outcome stands; what comes later is recorded as late progress.',
            'test_tracker.py'
            '::test_what_is_heard_after_the_end_is_recorded_as_late_and_changes_nothing',
            'test_tracker.py'
            '::test_feedback_that_comes_while_an_outcome_goes_to_the_disk_is_no_part_of_it',
            'test_dds_controller.py'
            '::test_an_acceptance_that_comes_too_late_is_noted_and_the_goal_is_called_off',
        ),
        _clause(
            'DEC-02',
            'After UNKNOWN the next managed dispatch needs an idle controller and a robot at'
            ' rest.',
            'test_tracker.py::test_after_an_unknown_end_the_next_goal_waits_for_evidence_of_rest',
            'test_tracker.py'
            '::test_a_goal_that_the_controller_denies_and_then_gives_feedback_of_blocks_the_next',
            'test_tracker.py'
            '::test_a_goal_that_gives_feedback_after_its_outcome_is_cancelled_unless_its_result_told_the_end',
            'test_tracker.py'
            '::test_a_goal_that_goes_on_running_unattended_is_cancelled_again_and_not_with_every_message',
            'test_tracker.py'
            '::test_a_goal_that_is_taken_late_stands_in_the_way_also_when_the_next_one_was_refused',
            'test_tracker.py'
            '::test_a_refused_goal_that_runs_and_ends_does_not_hide_one_of_which_nothing_was_heard',
            'test_tracker.py'
            '::test_while_a_robot_drives_on_after_an_end_that_was_disproved_nothing_new_is_sent',
            'test_tracker.py::test_a_status_that_nobody_defines_is_no_acceptance',
            'test_recovery.py::test_a_goal_that_still_runs_is_cancelled_and_blocks_new_work',
            'test_recovery.py'
            '::test_an_action_that_ended_unknown_in_an_earlier_run_still_stands_in_the_way',
        ),
        _clause(
            'DEC-03',
            'The goal UUID is made and journalled before the goal is sent.',
            'test_invariants.py::test_no_goal_leaves_before_its_start_is_in_the_file',
            'test_end_to_end.py::test_a_verified_arrival_is_in_the_journal_as_it_was_on_the_wire',
            'test_node_nav2.py'
            '::test_a_goal_goes_out_under_our_id_and_everything_about_it_comes_back',
        ),
        _clause(
            'DEC-04',
            'The harness never sends a goal again by itself.',
            'test_tracker.py::test_every_end_has_its_state_and_its_reason',
            'test_failure_cases.py::test_a_known_failure_is_told_truthfully',
        ),
        _clause(
            'DEC-05',
            'Arguments reach the skill unchanged, or not at all.',
            'test_tracker.py'
            '::test_the_evidence_shows_what_was_observed_and_not_what_was_asked_for',
            'test_dispatcher.py::test_unclear_arguments_are_refused_and_the_key_is_named',
        ),
        _clause(
            'DEC-06',
            'Waiting, timeouts and ages run on a steady clock; ROS time is recorded beside it.',
            'test_world_clock.py::test_the_wall_clock_alone_may_step',
            'test_world_samples.py::test_an_age_is_never_negative_and_never_shrinks',
            'test_journal_store.py::test_times_are_those_of_the_submission',
        ),
        _clause(
            'DEC-07',
            'A zero stamp means that there is no source stamp.',
            'test_world_samples.py::test_a_stamp_of_zero_is_invalid_and_says_what_to_do',
            'test_world_samples.py'
            '::test_a_clock_that_has_not_begun_is_told_before_any_stamp_is_blamed',
            'test_world_samples.py'
            '::test_a_stamp_of_zero_counts_from_reception_where_that_is_configured',
            'test_world_samples.py::test_a_type_without_a_stamp_ages_from_reception',
            'test_world_builder.py::test_a_source_accepted_without_stamps_is_taken_at_reception',
        ),
        _clause(
            'DEC-08',
            'A stamp from the future, or a clock that jumps back, makes a field invalid until'
            ' fresh data comes, and is salient.',
            'test_world_samples.py'
            '::test_a_stamp_slightly_ahead_is_new_and_one_far_ahead_is_invalid',
            'test_world_clock.py::test_after_a_jump_nothing_stamped_before_it_is_believed',
            'test_world_clock.py'
            '::test_fresh_data_is_believed_again_and_the_pose_only_with_a_fresh_pose',
            'test_world_clock.py'
            '::test_a_message_stamped_before_the_jump_that_arrives_after_it_is_invalid',
            'test_world_clock.py::test_simulated_time_may_run_at_any_speed_but_not_back',
            'test_node_transforms.py'
            '::test_a_simulation_that_starts_over_is_believed_again_at_once',
            'test_contract_gaps.py::test_what_is_salient_is_recorded_and_starts_a_turn',
        ),
        _clause(
            'DEC-09',
            'Arguments are strict: declared keys and types, finite numbers.',
            'test_dispatcher.py::test_unclear_arguments_are_refused_and_the_key_is_named',
            'test_mcp_server.py'
            '::test_arguments_of_the_wrong_shape_move_nothing_and_are_kept_as_received',
            'test_mcp_server.py::test_numbers_that_json_does_not_have_move_nothing',
        ),
        _clause(
            'DEC-10',
            'Rest is established by fresh odometry, or where that is silent by the pose source'
            ' over a window.',
            'test_world_motion.py::test_fresh_odometry_says_whether_the_robot_rests',
            'test_world_motion.py'
            '::test_a_robot_that_is_slow_for_a_moment_as_it_turns_back_is_not_at_rest',
            'test_world_motion.py::test_a_robot_that_stopped_is_at_rest_half_a_second_later',
            'test_world_motion.py'
            '::test_a_motion_that_odometry_stamped_far_ahead_is_over_when_its_stamps_are_right_again',
            'test_world_motion.py'
            '::test_a_twist_that_is_never_filled_does_not_hide_that_the_robot_drives',
            'test_world_motion.py::test_odometry_that_starts_anew_somewhere_else_is_no_motion',
            'test_world_motion.py'
            '::test_a_pose_that_has_just_moved_belies_wheels_at_rest_until_it_stays',
            'test_world_motion.py'
            '::test_the_small_corrections_of_a_localisation_do_not_move_a_robot_at_rest',
            'test_world_motion.py::test_where_odometry_is_silent_the_pose_over_a_window_says_so',
            'test_node_transforms.py'
            '::test_a_robot_whose_odometry_is_silent_at_rest_drives_with_the_shipped_skills',
            'test_world_motion.py::test_the_window_sees_creeping_turning_and_coming_back',
            'test_world_motion.py'
            '::test_a_window_needs_three_measurements_over_half_a_second_and_all_fresh',
            'test_world_motion.py::test_old_odometry_is_stale_evidence',
            'test_world_motion.py::test_poses_that_odometry_carried_forward_never_feed_the_window',
        ),
        _clause(
            'DEC-11',
            'Which fields a managed action needs, and how fresh, is configuration with safe'
            ' defaults.',
            'test_node_transforms.py::test_with_the_default_skills_silent_odometry_is_named_as_what'
            '_stands_in_the_way',
            'test_node_transforms.py'
            '::test_the_shipped_skills_for_silent_odometry_differ_from_the_usual_in_nothing_else',
            'test_preconditions.py::test_the_default_preconditions_are_those_of_the_contract',
            'test_dispatcher.py'
            '::test_what_the_skills_file_does_not_name_stays_as_the_skill_declares_it',
        ),
        _clause(
            'DEC-12',
            'Verification may wait for the robot to settle, up to navigation.verify_timeout_s.',
            'test_tracker.py::test_a_robot_that_settles_in_time_has_arrived',
            'test_failure_cases.py::test_a_known_failure_is_told_truthfully',
        ),
        _clause(
            'DEC-13',
            "Verification needs state from after the end, in the goal's frame, of a trustworthy"
            ' localisation.',
            'test_tracker.py'
            '::test_without_trustworthy_state_from_after_the_end_nothing_is_confirmed',
            'test_world_localization.py::test_a_pose_in_another_frame_is_invalid',
            'test_dds_controller.py::test_an_arrival_that_cannot_be_seen_is_not_believed',
        ),
        _clause(
            'DEC-14',
            'Yaw differences wrap.',
            'test_tracker.py::test_headings_are_compared_across_the_seam',
            'test_world_geometry.py'
            '::test_a_wrapped_angle_is_the_same_direction_within_half_a_turn',
            'test_verification.py::test_a_heading_is_compared_around_the_circle',
        ),
        _clause(
            'DEC-15',
            'An abort through a foreign goal is told as preempted.',
            'test_end_to_end.py::test_a_goal_of_somebody_else_preempts_and_blocks_the_next',
            'test_recordings.py::test_a_recorded_goal_ends_as_a_person_would_say',
        ),
        _clause(
            'DEC-16',
            'A foreign goal that is active blocks managed dispatch.',
            'test_end_to_end.py::test_a_goal_of_somebody_else_preempts_and_blocks_the_next',
            'test_node_nav2.py::test_goals_that_ran_before_we_came_are_seen',
        ),
        _clause(
            'DEC-17',
            'After a restart nothing is dispatched again, and open calls get interrupted.',
            'test_recovery.py::test_open_calls_are_answered_and_open_missions_ended',
            'test_recovery.py'
            '::test_an_interrupted_call_says_that_its_goal_was_sent_only_where_that_is_known',
            'test_node_lifecycle.py'
            '::test_a_killed_harness_is_cleared_up_after_and_sends_nothing_again',
        ),
        _clause(
            'DEC-18',
            'Open actions are asked for once by their id and settled by the usual rule, else'
            ' UNKNOWN.',
            'test_recovery.py::test_an_open_action_is_settled_on_what_the_controller_still_tells',
            'test_recovery.py'
            '::test_an_open_action_is_asked_for_at_its_own_server_whatever_became_of_its_skill',
            'test_recovery.py'
            '::test_an_open_action_that_still_runs_is_cancelled_though_its_skill_was_switched_off',
            'test_recovery.py::test_a_success_of_a_skill_whose_verifier_is_gone_is_unknown',
            'test_node_recovery.py'
            '::test_a_goal_whose_skill_was_switched_off_is_found_and_cancelled_by_the_next_start',
            'test_node_nav2.py'
            '::test_the_result_of_a_goal_that_another_process_sent_can_be_asked_for',
            'test_recovery.py::test_a_journal_with_nothing_open_gets_no_record_of_recovery',
            'test_node_recovery.py'
            '::test_a_node_that_is_deactivated_and_activated_again_recovers_no_second_time',
            'test_recovery.py'
            '::test_what_is_heard_of_an_own_goal_before_activation_is_neither_lost_nor_foreign',
        ),
        _clause(
            'DEC-19',
            'On an execution timeout the own goal is cancelled (a parameter), and the outcome is'
            ' UNKNOWN.',
            'test_tracker.py'
            '::test_a_goal_that_nobody_can_vouch_for_is_cancelled_where_that_is_configured',
            'test_node_nav2.py::test_cancel_names_one_goal_and_no_time',
        ),
        _clause(
            'DEC-20',
            'Nothing is left driving unattended at the end of the harness or of a mission.',
            'test_node_lifecycle.py'
            '::test_a_signal_cancels_the_goal_under_way_and_closes_the_journal',
            'test_node_lifecycle.py'
            '::test_a_goal_is_left_alone_at_the_end_where_that_is_configured',
            'test_harness.py::test_cancelling_a_mission_cancels_its_action_and_asks_no_more',
            'test_harness.py'
            '::test_a_cancel_at_the_end_of_a_mission_is_repeated_until_the_goal_ends',
        ),
        _clause(
            'DEC-21',
            'Outcomes, histories and caps are scoped by mission.',
            'test_harness.py::test_outcomes_of_one_mission_do_not_reach_the_next',
            'test_harness.py::test_a_second_mission_is_refused_while_one_is_under_way',
            'test_mcp_server.py::test_calls_belong_to_the_mission_that_is_under_way',
        ),
        _clause(
            'DEC-22',
            'JSON-RPC ids and tool-use ids are recorded, but never keys.',
            'test_contract_gaps.py::test_tool_use_ids_may_repeat_and_pair_nothing_in_the_journal',
            'test_mcp_server.py'
            '::test_two_clients_with_the_same_json_rpc_ids_get_their_own_answers',
        ),
    ),
    *_of(
        'DESIGN, section 6 (facts about Nav2 and rclpy)',
        _clause(
            'FACT-01',
            'Results and feedback differ by distribution: fields are read tolerantly, and an'
            ' error_code of 0 proves nothing.',
            'test_node_sources.py::test_a_result_without_fields_has_no_payload',
            'test_node_sources.py::test_feedback_keeps_only_numbers_that_are_finite',
            'test_tracker.py::test_every_end_has_its_state_and_its_reason',
        ),
        _clause(
            'FACT-02',
            'A newer goal preempts with an empty abort; a server rejects only while inactive, and'
            ' aborts a bad goal that it accepted.',
            'test_recordings.py::test_a_recorded_goal_ends_as_a_person_would_say',
            'test_recordings.py'
            '::test_an_inactive_server_rejects_and_takes_the_next_goal_when_it_is_active_again',
            'test_recordings.py::test_an_abort_keeps_the_controllers_code_and_text',
        ),
        _clause(
            'FACT-03',
            "Nav2's success means no more than that its goal checker was content.",
            'test_end_to_end.py::test_success_claimed_away_from_the_goal_is_disproved',
            'test_tracker.py::test_headings_are_compared_across_the_seam',
        ),
        _clause(
            'FACT-04',
            'get_result answers status 0 for a goal that is forgotten, which proves nothing.',
            'test_tracker.py::test_every_end_has_its_state_and_its_reason',
            'test_node_nav2.py::test_the_result_of_an_unknown_goal_is_status_0',
            'test_dds_controller.py::test_a_result_whose_status_ends_nothing_is_no_outcome',
        ),
        _clause(
            'FACT-05',
            'rclpy calls nobody back when the other side dies: the harness has its own timers.',
            'test_tracker.py::test_every_end_has_its_state_and_its_reason',
            'test_node_nav2.py::test_a_server_that_loses_a_part_is_gone',
            'test_node_nav2.py::test_without_a_server_a_goal_certainly_did_not_leave',
            'test_dds_controller.py::test_a_server_that_is_killed_leaves_the_action_unknown',
        ),
        _clause(
            'FACT-06',
            'Feedback may overtake the goal response, and is not lost.',
            'test_node_nav2.py::test_feedback_that_overtakes_the_goal_response_is_not_lost',
        ),
        _clause(
            'FACT-07',
            'AMCL speaks only in motion: at rest its pose is believed while odometry is fresh, and'
            ' a localiser that has stopped is found out.',
            'test_world_localization.py::test_a_localiser_that_speaks_only_in_motion_is_believed'
            '_at_rest_while_odometry_is_fresh',
            'test_world_localization.py::test_a_carried_pose_is_where_the_robot_is',
            'test_world_localization.py'
            '::test_a_localiser_that_stays_silent_while_the_robot_moves_far_is_dead',
            'test_world_localization.py'
            '::test_a_localiser_that_spoke_at_rest_and_falls_silent_is_not_believed',
            'test_world_localization.py'
            '::test_frozen_odometry_teaches_nobody_that_a_localiser_speaks_at_rest',
            'test_world_localization.py'
            '::test_a_live_amcl_is_believed_through_a_drive_and_a_dead_one_is_found_out',
            'test_world_localization.py'
            '::test_the_pose_is_carried_by_what_odometry_moved_since_the_poses_own_stamp',
        ),
        _clause(
            'FACT-08',
            'distance_remaining is no evidence of arrival.',
            'test_invariants.py::test_success_is_said_only_of_what_was_seen_to_be_so',
            'test_failure_cases.py::test_a_known_failure_is_told_truthfully',
        ),
        _clause(
            'FACT-09',
            'BatteryState.percentage is 0..1 with NaN for unmeasured, and some drivers publish'
            ' 0..100.',
            'test_world_builder.py::test_the_battery_is_read_on_the_configured_scale',
            'test_world_builder.py'
            '::test_a_battery_that_has_shown_another_scale_is_not_read_on_ours_when_it_runs_low',
            'test_world_builder.py::test_a_battery_is_believed_again_when_its_driver_is_mended',
            'test_world_builder.py::test_a_few_absurd_percentages_do_not_make_a_battery_unusable',
            'test_world_builder.py::test_a_battery_is_not_believed_where_its_absurd_percentages'
            '_may_be_of_another_scale',
            'test_world_builder.py'
            '::test_a_percentage_off_the_scale_is_invalid_and_names_the_parameter',
            'test_world_builder.py'
            '::test_an_unmeasured_percentage_is_invalid_and_an_unmeasured_voltage_is_absent',
        ),
        _clause(
            'FACT-10',
            'Recordings of a real Nav2 lead to the outcome that a person would give.',
            'test_recordings.py::test_a_recorded_goal_ends_as_a_person_would_say',
            'test_recordings.py::test_without_a_pose_nothing_is_sent',
        ),
    ),
    *_of(
        'DESIGN, section 7 (traps seen in similar systems)',
        _clause(
            'TRAP-01',
            'A result of the previous goal is not taken for this one.',
            'test_tracker.py::test_news_of_an_earlier_goal_completes_no_later_one',
            'test_dds_controller.py'
            '::test_statuses_results_and_feedback_of_other_goals_end_nothing_of_ours',
        ),
        _clause(
            'TRAP-02',
            'Not any terminal status is success, and the status constants are right.',
            'test_tracker.py::test_every_end_has_its_state_and_its_reason',
            'test_contract_gaps.py::test_goal_statuses_are_those_of_action_msgs',
        ),
        _clause(
            'TRAP-03',
            'The pose that is reported is the observed one, not the goal.',
            'test_tracker.py'
            '::test_the_evidence_shows_what_was_observed_and_not_what_was_asked_for',
        ),
        _clause(
            'TRAP-04',
            'A missing result field is no failure.',
            'test_verification.py::test_an_error_code_without_a_value_says_nothing',
            'test_tracker.py::test_every_end_has_its_state_and_its_reason',
            'test_node_sources.py::test_a_result_without_fields_has_no_payload',
        ),
        _clause(
            'TRAP-05',
            'Yaw is not compared without wrapping.',
            'test_tracker.py::test_headings_are_compared_across_the_seam',
        ),
        _clause(
            'TRAP-06',
            'The sequence does not restart with the process.',
            'test_journal_store.py::test_a_later_run_goes_on_where_the_one_before_ended',
        ),
        _clause(
            'TRAP-07',
            'A corrupt file does not become a fresh start.',
            'test_journal_open.py::test_what_is_no_sound_journal_is_refused_and_left_as_it_is',
            'test_journal_failures.py'
            '::test_a_file_that_is_gone_or_another_is_noticed_and_never_made_again',
        ),
        _clause(
            'TRAP-08',
            'Feedback is not kept without bound.',
            'test_recordings.py::test_feedback_at_a_hundred_hertz_is_journalled_once_a_second',
            'test_node_nav2.py::test_feedback_is_coalesced_and_ends_with_the_newest',
        ),
        _clause(
            'TRAP-09',
            'Nobody waits for a server for ever.',
            'test_end_to_end.py'
            '::test_a_robot_without_a_controller_is_refused_at_once_and_still_observed',
            'test_preconditions.py::test_each_check_stops_the_goal_and_reports_what_it_measured',
        ),
        _clause(
            'TRAP-10',
            'The HTTP endpoint is on loopback, and elsewhere only with a token.',
            'test_mcp_http.py::test_without_a_token_others_must_not_reach_the_robot',
            'test_mcp_settings.py::test_everything_else_counts_as_reachable',
            'test_node_start.py::test_serving_others_needs_a_token',
        ),
        _clause(
            'TRAP-11',
            'Outcomes do not cross missions.',
            'test_harness.py::test_outcomes_of_one_mission_do_not_reach_the_next',
        ),
        _clause(
            'TRAP-12',
            'Errors of the record are not swallowed.',
            'test_journal_failures.py::test_a_failing_commit_is_not_a_record',
            'test_journal_failures.py::test_health_listeners_are_called_on_the_loop_once_a_change',
        ),
        _clause(
            'TRAP-13',
            'No cap is dodged by rewording the rationale: steps and tokens are counted.',
            'test_harness.py::test_a_mission_ends_after_its_last_step',
            'test_contract_gaps.py::test_a_mission_ends_when_its_tokens_are_spent',
            'test_harness.py'
            '::test_when_a_budget_is_spent_the_running_action_is_cancelled_and_waited_for',
            'test_harness.py::test_the_time_of_a_mission_runs_out_also_while_the_model_thinks',
            'test_harness.py::test_the_time_of_one_mission_is_not_that_of_the_next',
        ),
        _clause(
            'TRAP-14',
            'Events that arrive while the model thinks are not lost.',
            'test_harness.py::test_what_happens_while_the_model_thinks_is_told_in_the_next_turn',
            'test_harness.py::test_a_mission_can_be_cancelled_while_the_model_thinks',
            'test_harness.py::test_a_mission_cancelled_under_a_hanging_model_ends_with_its_action',
            'test_harness.py'
            '::test_a_mission_is_not_finished_over_words_that_the_model_has_not_heard',
            'test_harness.py::test_a_person_is_heard_before_all_the_tools_of_a_turn_are_through',
            'test_prompting.py'
            '::test_a_persons_words_outlast_a_flood_of_events_and_repeated_ones_are_counted',
            'test_prompting.py'
            '::test_of_too_much_news_the_outcome_and_the_newest_are_told_and_how_much_is_not',
        ),
    ),
)

_CONTRACT = (
    *_of(
        'CONTRACT, set-up and commands',
        _clause(
            'CON-CMD-01',
            '`make demo` runs a closed-loop mission over real DDS, prints the live timeline, keeps'
            ' journal and report, and exits 0 only if every outcome was verified.',
            'test_demo.py::test_the_demo_runs_shows_and_checks_everything',
            'test_demo.py::test_the_story_plays_and_every_check_of_the_demo_holds',
            'test_demo.py::test_an_earlier_run_is_kept_and_other_files_are_left_alone',
            'test_demo.py::test_output_is_plain_where_there_is_no_terminal',
        ),
        _clause(
            'CON-CMD-02',
            'The demo believes no claim that its own observation denies.',
            'test_demo.py::test_what_the_journal_claims_and_the_wire_denies_is_named',
            'test_demo.py::test_a_robot_that_the_harness_misjudged_is_found_out',
            'test_demo.py::test_an_altered_journal_is_found_out',
            'test_demo.py::test_a_mission_that_ros_tells_otherwise_is_found_out',
            'test_demo.py::test_a_journal_without_the_story_fails_every_check_without_a_crash',
        ),
        _clause(
            'CON-CMD-03',
            '`make test`, `make lint`, `make bench` and `make setup` exist.',
            'test_contract_gaps.py::test_make_and_the_command_line_have_what_the_contract_names',
        ),
        _clause(
            'CON-CMD-04',
            '`make setup` is idempotent, and a failure says what is missing and what to install.',
            'test_setup_env.py::test_a_folder_is_fresh_only_for_what_it_was_made_from',
            'test_setup_env.py::test_missing_headers_are_named',
            'test_setup_env.py::test_a_missing_venv_module_is_named',
            'test_setup_env.py::test_a_missing_compiler_is_named',
            'test_setup_env.py::test_a_platform_without_wheels_is_named',
            'test_setup_env.py::test_a_distribution_without_wheels_is_named',
            'test_setup_env.py::test_another_distribution_is_not_mixed_with_a_sourced_one',
            'test_setup_env.py::test_an_unsupported_python_is_named',
            'test_setup_env.py::test_a_python_that_does_not_exist_is_named',
            'test_setup_env.py::test_a_failure_of_pip_is_explained',
        ),
        _clause(
            'CON-CMD-05',
            '`. ./env.sh` puts the environment into the shell and keeps DDS on this machine unless'
            ' it is configured.',
            'test_setup_env.py::test_env_sh_keeps_dds_on_this_machine_unless_it_is_configured',
            'test_setup_env.py::test_env_sh_may_be_sourced_twice',
            'test_setup_env.py::test_env_sh_leaves_the_other_environment_of_this_tree',
            'test_setup_env.py::test_env_sh_says_that_set_up_has_not_run',
        ),
        _clause(
            'CON-CMD-06',
            'The subcommands run, sim-robot, demo and report.',
            'test_contract_gaps.py::test_make_and_the_command_line_have_what_the_contract_names',
            'test_cli.py::test_help_names_every_command',
            'test_cli.py::test_every_command_has_help',
            'test_report.py::test_the_command_writes_the_report_and_prints_where',
        ),
        _clause(
            'CON-CMD-07',
            'The subcommand doctor: what is there, at which rate, age and QoS, and what to do.',
            'test_doctor_dds.py'
            '::test_a_healthy_robot_has_no_problems_and_shows_rates_ages_and_qos',
            'test_doctor_dds.py::test_without_a_robot_each_thing_that_is_missing_is_named',
            'test_doctor_dds.py::test_a_topic_of_another_name_is_found_by_its_type',
            'test_doctor_dds.py'
            '::test_a_topic_that_is_published_and_not_heard_is_a_problem_with_the_publisher',
            'test_doctor_dds.py::test_an_action_of_another_name_is_found_by_its_type',
            'test_doctor_dds.py::test_an_action_of_another_type_is_a_problem_with_both_types',
            'test_doctor_dds.py'
            '::test_places_in_another_frame_are_a_warning_with_the_frame_to_give',
            'test_doctor_dds.py'
            '::test_a_pose_in_another_frame_is_a_problem_with_the_frame_to_configure',
            'test_doctor_dds.py::test_a_base_of_another_name_is_a_warning',
            'test_doctor_dds.py::test_clocks_that_differ_are_told_from_the_stamps',
            'test_doctor_dds.py'
            '::test_a_source_without_stamps_is_a_problem_that_names_the_parameter',
            'test_doctor_dds.py::test_simulated_time_without_a_clock_is_a_problem',
            'test_doctor_dds.py::test_a_topic_of_another_type_is_a_problem_with_both_types',
            'test_doctor_dds.py::test_qos_that_does_not_go_together_is_told_by_topic_and_policy',
            'test_doctor_dds.py'
            '::test_a_localisation_that_is_not_sure_is_a_problem_with_the_variance',
            'test_doctor_dds.py::test_a_battery_for_which_calls_are_refused_is_a_problem',
            'test_doctor_dds.py::test_a_stop_that_is_engaged_is_a_problem',
            'test_doctor_dds.py::test_metrics_that_cannot_be_served_are_a_problem',
            'test_doctor_dds.py::test_odometry_that_navigation_needs_not_fresh_is_no_problem',
            'test_doctor_dds.py::test_two_robots_on_one_topic_are_a_warning',
            'test_doctor_dds.py::test_nav2_nodes_that_are_not_active_are_problems',
            'test_doctor_dds.py::test_a_damaged_journal_and_one_that_is_held_are_problems',
            'test_doctor_dds.py::test_a_port_that_something_else_has_is_a_problem',
            'test_doctor_dds.py::test_a_key_that_is_missing_is_a_problem',
            'test_doctor_dds.py::test_files_that_cannot_be_used_are_problems',
            'test_doctor_dds.py::test_a_harness_that_runs_is_seen_and_stands_in_nobodys_way',
            'test_doctor_dds.py'
            '::test_a_harness_that_writes_its_journal_is_waited_for_until_dds_tells_of_it',
            'test_doctor_dds.py::test_arguments_that_cannot_be_used_are_named_with_code_2',
            'test_doctor_dds.py::test_a_parameters_file_counts_as_for_the_harness',
            'test_doctor_dds.py::test_the_command_ends_soon_and_prints_plain_lines_into_a_pipe',
            'test_doctor.py::test_a_journal_that_is_not_there_yet_will_be_made',
            'test_doctor.py::test_a_sound_journal_is_told_with_its_length_and_left_as_it_is',
            'test_doctor.py::test_a_record_that_was_altered_is_a_problem',
            'test_doctor.py::test_a_file_that_is_no_journal_is_a_problem',
            'test_doctor.py::test_a_folder_that_cannot_be_written_is_a_problem',
            'test_doctor.py::test_a_path_that_no_journal_can_have_is_a_problem',
            'test_doctor.py::test_only_a_damaged_journal_is_to_be_kept_for_the_record',
            'test_doctor.py::test_a_lock_file_that_is_a_pipe_keeps_nobody_waiting',
            'test_doctor.py::test_a_journal_that_others_may_read_is_a_warning',
            'test_doctor.py::test_who_holds_a_journal_is_told_without_touching_its_lock',
            'test_doctor.py::test_a_disk_that_is_nearly_full_is_told',
            'test_doctor.py::test_without_a_model_there_is_nothing_to_check',
            'test_doctor.py::test_a_key_that_is_missing_is_named_by_its_variable',
            'test_doctor.py'
            '::test_an_endpoint_that_answers_anything_is_reached_and_no_key_is_sent_or_shown',
            'test_doctor.py::test_an_endpoint_that_nobody_serves_is_a_problem',
            'test_doctor.py'
            '::test_an_endpoint_that_never_answers_is_waited_for_no_longer_than_a_moment',
            'test_doctor.py::test_a_script_that_cannot_be_read_is_a_problem',
            'test_doctor.py::test_a_port_that_is_free_is_left_free',
            'test_doctor.py::test_whoever_is_at_the_port_is_asked_who_it_is',
            'test_doctor.py::test_a_port_where_something_else_listens_is_a_problem',
            'test_doctor.py::test_an_address_that_is_not_ours_is_a_problem',
            'test_doctor.py::test_serving_others_without_a_token_is_a_problem',
            'test_doctor.py'
            '::test_plain_text_has_a_line_each_and_what_to_do_and_nothing_that_a_terminal_obeys',
            'test_doctor.py::test_json_has_everything_for_programs',
        ),
        _clause(
            'CON-CMD-08',
            'The subcommand journal: lists, a tree of causes, following, checking, rotating;'
            ' beside a running harness, on a file of an older release, and on an archive.',
            'test_journal_command_listing.py'
            '::test_every_listing_shows_a_table_and_the_same_as_json_lines',
            'test_journal_command_listing.py'
            '::test_missions_tell_what_was_asked_and_what_became_of_it',
            'test_journal_command_listing.py::test_actions_tell_how_they_ended_and_how_far_off',
            'test_journal_command_listing.py::test_decisions_tell_what_came_of_them',
            'test_journal_command_listing.py::test_filters_find_what_matches_all_of_them',
            'test_journal_command_listing.py::test_an_id_that_is_not_in_the_journal_is_a_slip_and_not_an_empty_list',
            'test_journal_command_files.py::test_an_id_is_a_slip_only_where_no_file_has_it',
            'test_journal_command_files.py'
            '::test_a_filter_without_a_match_for_an_id_of_an_older_file_is_an_empty_list',
            'test_journal_command_listing.py::test_times_hold_whatever_the_clock_did',
            'test_journal_command_listing.py'
            '::test_without_after_the_newest_page_is_shown_and_with_it_the_pages_follow_each_other',
            'test_journal_command_listing.py'
            '::test_what_was_said_outside_reaches_the_terminal_as_text_on_one_line',
            'test_journal_command_listing.py'
            '::test_a_file_that_cannot_be_used_is_code_2_with_one_line_that_names_it',
            'test_journal_command_listing.py'
            '::test_without_a_file_the_error_says_which_one_was_looked_for_and_what_to_give',
            'test_journal_command_listing.py::test_wrong_arguments_are_code_2',
            'test_journal_command_listing.py'
            '::test_a_name_that_is_mistyped_is_refused_with_those_that_there_are',
            'test_journal_command_listing.py::test_times_are_iso_or_how_long_ago',
            'test_journal_command_listing.py'
            '::test_a_journal_of_the_first_release_is_listed_as_it_lies',
            'test_journal_command_listing.py'
            '::test_a_pipe_that_is_closed_early_is_code_141_and_never_an_answer',
            'test_journal_command_listing.py'
            '::test_an_answer_that_finds_no_room_is_code_2_with_one_line',
            'test_journal_command_show.py::test_a_mission_is_told_from_its_turns_to_the_evidence',
            'test_event_lines.py::test_every_type_of_event_has_such_a_line',
            'test_event_lines.py::test_a_record_has_a_line_that_a_person_understands',
            'test_event_lines.py::test_a_record_of_another_shape_has_a_line_as_well',
            'test_event_lines.py::test_no_line_of_a_recorded_run_is_raw_json',
            'test_event_lines.py::test_a_type_of_a_later_release_shows_what_its_record_holds',
            'test_journal_any_shape.py'
            '::test_a_column_that_holds_anything_ends_no_command_with_a_traceback',
            'test_journal_any_shape.py::test_the_newest_record_may_be_the_one_that_was_altered',
            'test_journal_any_shape.py'
            '::test_payloads_of_any_shape_end_no_command_with_a_traceback',
            'test_journal_any_shape.py'
            '::test_all_records_of_a_type_without_their_shape_end_no_command_with_a_traceback',
            'test_journal_command_show.py'
            '::test_calls_outside_missions_stand_between_them_in_their_order',
            'test_journal_command_show.py'
            '::test_one_line_of_json_has_a_turn_with_all_that_came_of_it',
            'test_journal_command_show.py::test_less_than_everything_can_be_chosen',
            'test_journal_command_show.py::test_what_is_not_there_is_said',
            'test_journal_command_show.py'
            '::test_a_mission_that_is_under_way_is_shown_as_far_as_it_is',
            'test_journal_command_show.py::test_a_terminal_gets_colour_unless_it_says_no',
            'test_journal_command_files.py'
            '::test_all_files_of_a_journal_are_listed_in_their_order_each_row_with_its_file',
            'test_journal_command_files.py'
            '::test_the_newest_page_is_taken_from_as_many_files_as_it_needs',
            'test_journal_command_files.py'
            '::test_an_archive_is_not_opened_where_the_newer_files_are_enough',
            'test_journal_command_files.py::test_filters_go_through_all_files',
            'test_journal_command_files.py'
            '::test_a_table_of_several_files_names_each_above_its_rows',
            'test_journal_command_files.py::test_one_thing_is_shown_from_whichever_file_has_it',
            'test_journal_command_files.py::test_trees_of_all_files_are_shown_in_their_order',
            'test_journal_command_files.py::test_after_counts_one_file_and_does_not_go_with_all',
            'test_journal_command_files.py'
            '::test_a_list_that_reaches_the_beginning_of_its_file_names_the_older_one',
            'test_journal_command_files.py::test_an_older_file_that_is_gone_is_said_to_be',
            'test_journal_command_files.py'
            '::test_a_broken_chain_is_told_with_where_to_learn_all_of_it',
            'test_journal_command_files.py'
            '::test_a_record_that_cannot_be_read_is_told_with_where_to_learn_all_of_it',
            'test_journal_command_table.py'
            '::test_a_list_can_be_read_on_80_columns_and_says_what_it_leaves_out',
            'test_journal_command_table.py'
            '::test_what_was_said_and_how_it_ended_can_be_read_on_80_columns',
            'test_journal_command_table.py'
            '::test_columns_are_left_out_in_their_order_and_no_more_of_them_than_must_be',
            'test_journal_command_tail.py::test_it_begins_with_the_newest_records',
            'test_journal_command_tail.py'
            '::test_it_follows_a_harness_record_by_record_and_none_twice',
            'test_journal_command_tail.py::test_it_goes_on_in_the_file_that_a_rotation_begins',
            'test_journal_command_tail.py::test_it_waits_for_a_file_that_is_away_for_a_moment',
            'test_journal_command_tail.py::test_it_follows_one_mission',
            'test_journal_command_tail.py::test_ctrl_c_ends_it_without_a_word',
            'test_journal_command_verify.py::test_a_sound_file_is_code_0_with_its_last_chain',
            'test_journal_command_verify.py'
            '::test_what_does_not_hold_is_code_1_and_the_place_is_named',
            'test_journal_command_verify.py::test_a_damaged_file_is_code_1_and_named',
            'test_journal_command_verify.py::test_work_under_way_is_no_violation_and_is_named',
            'test_journal_command_verify.py'
            '::test_a_journal_that_names_a_file_elsewhere_is_not_followed_there',
            'test_journal_command_verify.py'
            '::test_a_guard_that_was_taken_away_is_named_and_all_else_is_checked_all_the_same',
            'test_journal_command_verify.py::test_each_break_of_the_chain_is_named_once',
            'test_journal_command_verify.py'
            '::test_who_waits_is_told_every_two_seconds_how_far_it_is',
            'test_replay.py::test_who_waits_for_a_long_journal_is_told_how_far_it_is',
            'test_journal_tampering.py'
            '::test_each_promise_that_was_broken_with_a_mended_chain_is_named',
            'test_journal_command_verify.py::test_a_longer_journal_takes_no_more_memory',
            'test_journal_command_verify.py'
            '::test_what_is_looked_up_by_an_id_costs_the_same_in_a_longer_journal',
            'test_journal_command_rotate.py'
            '::test_how_a_running_harness_was_configured_is_known_in_every_file',
            'test_journal_command_rotate.py'
            '::test_rotation_begins_a_file_that_names_the_one_before_it_and_its_last_chain',
            'test_journal_command_rotate.py::test_an_archive_is_read_as_a_live_file_is',
            'test_journal_command_rotate.py::test_verify_follows_the_chain_into_the_files_before',
            'test_journal_command_rotate.py'
            '::test_killed_after_any_step_a_rotation_loses_nothing_and_doubles_nothing',
            'test_journal_command_rotate.py::test_a_step_that_fails_leaves_the_journal_in_use',
            'test_journal_command_rotate.py::test_there_is_nothing_to_close_twice',
            'test_journal_command_rotate.py'
            '::test_a_journal_in_use_or_with_open_work_is_not_closed',
            'test_journal_command_rotate.py'
            '::test_a_reader_that_was_there_before_goes_on_with_what_it_has',
            'test_journal_command_rotate.py'
            '::test_an_action_that_ended_unknown_stands_in_the_way_after_rotations_too',
            'test_journal_command_rotate.py::test_an_action_that_ended_well_is_not_carried_over',
            'test_journal_command_rotate.py'
            '::test_an_idempotency_key_stays_in_force_over_rotations',
            'test_journal_command_rotate.py'
            '::test_a_running_harness_rotates_between_missions_and_never_within_one',
            'test_journal_command_rotate.py'
            '::test_a_harness_that_may_not_rotate_says_so_and_goes_on',
            'test_journal_command_rotate.py'
            '::test_records_that_wait_for_a_thread_are_each_in_one_file',
            'test_journal_command_docs.py::test_every_subcommand_is_documented',
            'test_journal_command_docs.py::test_every_option_is_documented',
            'test_journal_command_docs.py::test_every_key_is_documented',
        ),
        _clause(
            'CON-CMD-09',
            'The subcommand replay.',
            'test_replay.py::test_a_journal_of_the_first_release_is_refused_with_the_reason',
            'test_replay.py::test_an_unknown_mission_is_named',
            'test_replay.py::test_the_command_says_identical_and_exits_with_0',
            'test_replay.py'
            '::test_the_command_shows_both_sides_of_the_first_difference_and_exits_with_1',
            'test_replay.py::test_the_command_tells_which_records_it_did_not_compare',
            'test_replay.py::test_a_journal_of_which_a_record_was_altered_is_replayed_and_called_damaged',
            'test_replay.py::test_a_journal_that_lost_a_record_is_called_damaged_and_not_replayed',
            'test_replay.py::test_what_cannot_be_replayed_is_named_with_exit_code_2',
            'test_replay.py::test_a_record_that_is_not_what_the_package_writes_is_named',
            'test_replay.py'
            '::test_a_word_that_no_release_writes_is_a_difference_and_so_is_a_state_of_another_tools',
            'test_replay.py'
            '::test_a_fault_of_the_replay_itself_says_so_and_its_traceback_is_logged_at_debug',
            'test_replay.py::test_a_replay_needs_no_ros_and_writes_nothing_beside_the_journal',
            'test_replay.py::test_a_tighter_tolerance_says_which_outcome_would_be_another',
            'test_replay.py::test_a_wider_tolerance_turns_a_disproof_into_a_success',
            'test_replay.py::test_a_shorter_timeout_ends_the_action_earlier',
            'test_replay.py::test_parameters_that_change_nothing_exit_with_0',
            'test_replay.py'
            '::test_a_call_that_was_withdrawn_while_the_disk_was_slow_replays_identically',
            'test_replay.py'
            '::test_calls_that_look_and_are_withdrawn_while_the_disk_is_slow_replay_identically',
            'test_replay.py'
            '::test_two_calls_of_which_one_waits_for_the_start_of_the_other_replay_identically',
            'test_replay.py'
            '::test_a_mission_on_a_disk_that_is_slow_now_and_then_replays_identically',
            'test_replay.py::test_a_quick_disk_is_not_spoken_of',
            'test_replay.py'
            '::test_a_repeat_that_is_on_record_before_the_call_that_it_repeats_replays_identically',
            'test_replay.py'
            '::test_an_answer_that_shows_what_came_while_the_call_went_to_a_quick_disk_replays_identically',
            'test_replay.py'
            '::test_calls_that_wait_for_a_quick_disk_and_for_each_other_replay_identically',
            'test_replay.py::test_waiting_for_the_rest_of_a_time_comes_to_an_end_on_virtual_time',
            'test_replay.py'
            '::test_calls_of_services_replay_whatever_they_answer_and_in_whatever_order',
            'test_replay.py'
            '::test_a_mission_with_tools_that_come_and_go_replays_with_their_names_in_order',
            'test_replay.py'
            '::test_a_service_that_had_not_answered_when_the_harness_was_closed_replays',
            'test_replay.py::test_a_response_too_large_to_record_is_the_first_difference',
            'test_replay.py::test_a_comment_in_the_skills_file_is_not_on_record',
            'test_replay.py::test_the_order_of_keys_survives_being_sorted',
            'test_replay.py::test_what_cannot_be_tried_out_would_change_nothing',
            'test_replay.py::test_every_parameter_can_be_tried_out_or_is_known_to_play_no_part',
            'test_replay.py'
            '::test_a_change_of_parameters_counts_in_a_replay_from_the_moment_at_which_it_was_made',
        ),
        _clause(
            'CON-CMD-10',
            'run and sim-robot take --ros-args as every node does.',
            'test_cli.py::test_ros_arguments_are_told_from_ours',
            'test_cli.py::test_only_nodes_take_ros_arguments',
            'test_cli.py::test_ros_arguments_in_the_wrong_place_are_told_where_they_belong',
            'test_cli.py::test_what_is_ours_stays_in_front_and_what_is_nobodys_gets_no_hint',
            'test_node_start.py::test_ros_arguments_that_cannot_be_read_are_named',
        ),
        _clause(
            'CON-CMD-11',
            'The executables harness and sim_robot are installed for ros2 run.',
            'test_packaging.py'
            '::test_what_cmake_installs_runs_a_subcommand_with_the_interpreter_of_the_build',
            'test_packaging.py::test_entry_point_names_a_function_that_exists',
        ),
        _clause(
            'CON-CMD-12',
            'Exit code 2 for wrong usage or configuration, with one line on stderr that names the'
            ' parameter or file at fault.',
            'test_cli.py::test_wrong_usage_is_code_2_with_a_line_that_names_it',
            'test_exit_codes.py'
            '::test_each_code_of_the_table_is_that_of_the_program_and_names_the_commands_that_have_it',
            'test_exit_codes.py::test_every_page_that_speaks_of_exit_codes_leads_to_the_table',
            'test_exit_codes.py'
            '::test_a_command_whose_reader_leaves_or_whose_disk_is_full_ends_as_the_table_says',
            'test_exit_codes.py::test_wrong_usage_of_any_command_is_code_2',
            'test_exit_codes.py::test_an_argument_too_many_is_refused_with_the_commands_own_usage',
            'test_exit_codes.py'
            '::test_what_is_named_for_a_journal_and_lies_beside_one_or_around_one_leads_to_it',
            'test_exit_codes.py::test_a_file_where_a_folder_is_to_be_is_named_with_what_to_do',
            'test_node_start.py::test_the_command_ends_with_the_same_line_and_code',
            'test_node_start.py::test_arguments_outside_of_ros_args_are_refused',
            'test_demo.py::test_misuse_is_named_with_exit_code_2',
            'test_report.py::test_the_command_refuses_with_one_line_and_exit_code_2',
            'test_report.py::test_the_report_of_a_damaged_journal_is_written_and_says_so_at_its_beginning',
            'test_sim_robot.py::test_a_wrong_command_line_ends_the_process_with_code_2',
            'test_sim_robot.py::test_what_cannot_be_used_is_refused_in_one_line_that_names_it',
        ),
        _clause(
            'CON-CMD-13',
            'Exit code 1 where it ran and the answer is no.',
            'test_demo.py::test_a_node_that_dies_ends_the_demo_with_its_name_and_its_log',
        ),
        _clause(
            'CON-CMD-14',
            'A bad journal path, a missing file, a port in use or a second harness is named, and'
            ' nothing stays half-started.',
            'test_node_start.py::test_a_journal_that_cannot_be_written_is_named',
            'test_node_start.py::test_a_file_that_is_no_journal_is_left_as_it_is',
            'test_node_start.py::test_a_file_that_is_missing_is_named_and_the_journal_let_go',
            'test_node_start.py::test_a_port_in_use_is_named_and_everything_closed_again',
            'test_node_start.py::test_a_second_harness_on_one_journal_is_refused',
            'test_node_start.py::test_a_script_that_is_missing_is_named',
            'test_node_start.py::test_a_missing_key_is_named',
        ),
        _clause(
            'CON-CMD-15',
            'Ctrl-C and SIGTERM end cleanly within 5 s, with the journal closed.',
            'test_node_lifecycle.py'
            '::test_a_signal_cancels_the_goal_under_way_and_closes_the_journal',
            'test_node_lifecycle.py::test_signals_during_the_start_and_twice_are_fine',
            'test_node_lifecycle.py::test_signals_that_go_on_until_the_end_make_no_failure_of_it',
            'test_sim_robot.py::test_a_signal_ends_it_cleanly_in_the_middle_of_a_goal',
            'test_sim_robot.py::test_signals_that_go_on_until_the_end_make_no_failure_of_it',
            'test_demo.py::test_a_signal_ends_both_nodes_and_leaves_no_traceback',
            'test_cli.py::test_ctrl_c_during_the_start_leaves_no_traceback',
        ),
    ),
    *_of(
        'CONTRACT, ROS interface of the harness node',
        _clause(
            'CON-ROS-01',
            'A managed lifecycle node, activated by default.',
            'test_node_lifecycle.py::test_every_transition_does_what_it_says',
            'test_node_lifecycle.py'
            '::test_a_configuration_that_fails_is_explained_and_works_once_the_cause_is_mended',
            'test_node_lifecycle.py'
            '::test_an_activation_whose_port_is_taken_fails_and_works_once_it_is_free',
            'test_node_lifecycle.py::test_a_recovery_that_the_journal_refuses_is_explained_and_done'
            '_after_a_new_configuration',
            'test_node_lifecycle.py'
            '::test_an_action_goes_on_to_its_verified_end_over_a_deactivation',
            'test_node_lifecycle.py'
            '::test_a_shutdown_from_any_state_ends_the_process_with_the_journal_closed',
            'test_node_lifecycle.py::test_a_transition_that_is_none_of_the_state_is_refused',
        ),
        _clause(
            'CON-ROS-16',
            'QoS matches what robots publish, and what does not go together is reported.',
            'test_node_qos.py::test_a_source_is_heard_whatever_qos_it_publishes_with',
            'test_node_qos.py'
            '::test_a_publisher_that_offers_too_little_is_named_with_the_policy_until_it_leaves',
            'test_node_qos.py::test_a_human_who_speaks_best_effort_is_told_that_nobody_hears',
            'test_node_qos.py::test_a_subscriber_that_asks_for_too_much_is_named_and_no_other',
            'test_node_qos.py::test_what_an_offer_lacks_is_said_policy_by_policy',
        ),
        _clause(
            'CON-ROS-17',
            'A node without a robot says once what it does not hear, and how to find out why.',
            'test_node_qos.py::test_a_robot_that_is_not_there_is_missed_once_in_the_log',
        ),
        _clause(
            'CON-ROS-02',
            'Names are relative, so that two robots in two namespaces stay apart.',
            'test_node_docs.py::test_the_page_names_every_topic_action_and_status_of_the_node',
            'test_two_robots.py::test_two_robots_at_once_do_not_hear_each_other',
            'test_node_transforms.py'
            '::test_robots_with_the_same_frames_in_namespaces_do_not_see_each_others_tf',
        ),
        _clause(
            'CON-ROS-03',
            'Subscriptions match what robots publish, latched or not, reliable or not.',
            'test_node_sources.py::test_what_was_latched_before_the_start_is_received',
            'test_node_sources.py::test_publishers_that_latch_nothing_are_received_too',
            'test_node_sources.py::test_a_pose_that_two_subscriptions_hear_is_taken_once',
            'test_dds_controller.py::test_a_publisher_of_any_quality_of_service_is_heard',
        ),
        _clause(
            'CON-ROS-04',
            '`odom` is read.',
            'test_node_sources.py::test_publishers_that_latch_nothing_are_received_too',
            'test_node_sources.py::test_speed_is_that_over_ground',
        ),
        _clause(
            'CON-ROS-05',
            '`amcl_pose` is read, with its covariance.',
            'test_node_sources.py::test_what_was_latched_before_the_start_is_received',
            'test_node_sources.py::test_a_variance_that_is_no_number_stays_visible',
            'test_node_sources.py::test_a_heading_is_read_from_rotations_only',
        ),
        _clause(
            'CON-ROS-06',
            'tf is read through tf2_ros where that is installed.',
            'test_node_sources.py::test_tf_is_looked_up_where_it_is_installed_and_told_once'
            '_for_each_transform',
            'test_world_localization.py'
            '::test_a_transform_is_used_as_it_is_with_the_covariance_of_the_localiser',
            'test_node_transforms.py::test_frames_with_a_prefix_are_followed_to_the_map',
            'test_node_transforms.py'
            '::test_robots_with_prefixes_on_one_tf_topic_know_their_own_frames',
        ),
        _clause(
            'CON-ROS-07',
            '`battery_state` is read.',
            'test_node_sources.py::test_publishers_that_latch_nothing_are_received_too',
            'test_node_sources.py::test_whether_a_battery_charges_is_unknown_unless_it_says_so',
        ),
        _clause(
            'CON-ROS-08',
            '`emergency_stop` is read; true means stopped, latched.',
            'test_end_to_end.py::test_with_the_emergency_stop_engaged_no_goal_is_sent',
            'test_node_sources.py::test_what_was_latched_before_the_start_is_received',
            'test_world_builder.py::test_a_latched_emergency_stop_does_not_go_stale',
            'test_preconditions.py'
            '::test_a_call_right_after_the_start_hears_what_the_robot_latches',
        ),
        _clause(
            'CON-ROS-09',
            "`navigate_to_pose` with feedback and status; others' goals are seen too.",
            'test_node_nav2.py'
            '::test_a_goal_goes_out_under_our_id_and_everything_about_it_comes_back',
            'test_node_nav2.py::test_feedback_of_other_clients_goals_reaches_nobody',
            'test_node_nav2.py::test_goals_that_ran_before_we_came_are_seen',
        ),
        _clause(
            'CON-ROS-10',
            '`~/human_message` is recorded and told to the mission.',
            'test_node_topics.py::test_a_human_message_is_recorded_with_the_mission_under_way',
        ),
        _clause(
            'CON-ROS-11',
            '`~/run_mission` runs one mission at a time, and can be cancelled.',
            'test_node_topics.py'
            '::test_a_mission_runs_to_its_verified_end_and_is_told_at_every_step',
            'test_node_topics.py::test_cancelling_a_mission_cancels_its_action',
            'test_node_topics.py::test_a_mission_that_cannot_be_meant_is_refused',
            'test_node_topics.py'
            '::test_a_mission_is_refused_while_nobody_can_read_whether_its_id_was_used',
        ),
        _clause(
            'CON-ROS-12',
            '`~/world_snapshot` is published.',
            'test_node_topics.py::test_the_world_is_published_to_whoever_listens',
        ),
        _clause(
            'CON-ROS-13',
            '`~/action_state` is published, latched.',
            'test_node_topics.py'
            '::test_a_mission_runs_to_its_verified_end_and_is_told_at_every_step',
            'test_contract_gaps.py::test_constants_of_the_interfaces_mirror_the_enums',
        ),
        _clause(
            'CON-ROS-14',
            '`~/mission_event` tells of each record once it is on disk, in order.',
            'test_node_topics.py'
            '::test_a_mission_runs_to_its_verified_end_and_is_told_at_every_step',
            'test_journal_store.py'
            '::test_event_listeners_hear_each_record_once_in_order_also_when_nobody_awaits_it',
        ),
        _clause(
            'CON-ROS-15',
            '`/diagnostics` says what stands in the way.',
            'test_node_topics.py::test_diagnostics_say_what_would_stand_in_the_way',
            'test_node_topics.py::test_diagnostics_follow_the_robot_when_it_fails',
            'test_contract_gaps.py'
            '::test_a_journal_that_cannot_be_written_is_an_error_in_diagnostics',
        ),
    ),
    *_of(
        'CONTRACT, parameters',
        _clause(
            'CON-PAR-01',
            'Every parameter has a type, a description and, if it is a number, a range.',
            'test_contract_gaps.py::test_every_parameter_has_a_meaning_and_numbers_have_a_range',
        ),
        _clause(
            'CON-PAR-02',
            'Names and pinned defaults are those of the contract.',
            'test_contract_gaps.py::test_every_parameter_of_the_contract_exists_with_its_default',
        ),
        _clause(
            'CON-PAR-03',
            'config/harness.yaml and docs/parameters.md hold every parameter with its default.',
            'test_node_docs.py::test_the_defaults_file_holds_every_parameter_with_its_default',
            'test_node_docs.py'
            '::test_the_shipped_files_of_parameters_can_be_loaded_while_the_node_runs',
            'test_node_docs.py::test_no_number_is_without_end',
            'test_node_docs.py::test_the_page_has_one_row_for_each_parameter_in_order',
            'test_node_docs.py::test_a_row_says_what_the_table_says',
        ),
        _clause(
            'CON-PAR-04',
            'An unknown parameter, or a value out of range, is refused at start by its name.',
            'test_node_start.py::test_a_parameter_that_cannot_be_meant_is_refused_by_name',
            'test_node_start.py::test_what_every_node_has_is_refused_by_name_as_well',
            'test_node_start.py::test_a_whole_number_is_taken_for_a_number',
            'test_node_start.py::test_a_start_that_is_refused_makes_no_file_and_no_folder',
            'test_node_start.py'
            '::test_a_second_harness_on_the_same_journal_and_port_hears_of_the_journal',
            'test_node_start.py'
            '::test_what_can_be_put_right_before_the_activation_is_no_reason_against_configuring',
        ),
        _clause(
            'CON-PAR-21',
            'What can change while the node runs does, checked, together or not at all, and on'
            ' record; what is under way keeps to what it began with. The rest is read-only and'
            ' says why.',
            'test_node_parameters.py'
            '::test_every_parameter_says_what_it_takes_and_whether_it_may_change',
            'test_node_parameters.py::test_a_change_is_taken_told_in_the_log_and_read_back',
            'test_node_parameters.py::test_a_whole_number_is_taken_for_a_number_at_run_time_too',
            'test_node_parameters.py'
            '::test_a_change_that_is_not_allowed_is_refused_with_the_reason',
            'test_node_parameters.py::test_parameters_change_together_or_not_at_all',
            'test_node_parameters.py'
            '::test_a_value_that_is_the_same_may_be_given_so_that_a_whole_file_can_be_loaded',
            'test_retune.py::test_an_action_is_judged_by_the_tolerance_that_held_when_it_began',
            'test_retune.py::test_an_action_waits_for_its_answer_as_long_as_held_when_it_began',
            'test_retune.py::test_a_mission_keeps_the_bounds_that_it_began_with',
            'test_retune.py::test_a_battery_is_low_by_the_limit_that_holds_now',
            'test_retune.py::test_a_refusal_shows_no_more_of_the_world_than_is_allowed_now',
            'test_retune.py::test_a_change_is_on_record_so_that_a_replay_knows_it',
            'test_retune.py::test_a_parameter_may_change_while_the_node_runs_or_says_why_not',
        ),
        _clause(
            'CON-PAR-05',
            'Default preconditions of navigation, in config/skills.yaml.',
            'test_preconditions.py::test_the_default_preconditions_are_those_of_the_contract',
        ),
        _clause(
            'CON-PAR-06',
            'Keys come from the environment only, and reach neither journal nor log.',
            'test_llm_factory.py::test_an_anthropic_client_takes_its_key_from_the_environment',
            'test_claude_mission.py::test_claude_looks_acts_hears_the_outcome_and_finishes',
            'test_llm_anthropic.py::test_the_key_is_in_no_log_of_a_good_or_a_failing_decision',
            'test_llm_anthropic.py::test_a_wrong_key_is_reported_without_the_key',
            'test_openai_mission.py::test_a_model_behind_chat_completions_carries_a_mission_out',
            'test_llm_openai.py::test_the_key_is_in_no_log_of_a_good_or_a_failing_decision',
            'test_llm_openai.py::test_a_wrong_key_is_reported_without_the_key',
            'test_llm_openai.py::test_only_the_configuration_says_where_the_key_goes',
            'test_redaction.py'
            '::test_keys_of_the_environment_reach_neither_journal_nor_log_nor_error',
            'test_keys_stay_out.py'
            '::test_of_a_mission_that_spills_its_keys_nothing_that_is_kept_or_shown_holds_them',
            'test_keys_stay_out.py::test_no_error_of_a_client_holds_the_key_however_it_came_about',
            'test_keys_stay_out.py'
            '::test_a_redirect_takes_neither_the_key_nor_the_prompt_to_another_host',
            'test_keys_stay_out.py'
            '::test_a_key_that_no_header_can_hold_is_refused_without_being_quoted',
        ),
        _clause(
            'CON-PAR-07',
            'journal.path and journal.synchronous: where, and how durable.',
            'test_journal_store.py::test_the_durability_is_the_one_that_was_asked_for',
            'test_journal_open.py::test_the_home_directory_is_expanded',
        ),
        _clause(
            'CON-PAR-08',
            'mcp.host, mcp.port (0 = any free one, logged), mcp.token_file.',
            'test_mcp_http.py::test_the_url_names_the_port_that_was_found',
            'test_mcp_http.py'
            '::test_a_port_in_use_is_an_error_that_names_the_parameter_and_the_address',
            'test_mcp_settings.py::test_the_token_is_the_first_line',
            'test_mcp_http.py'
            '::test_with_the_token_a_client_works_and_the_token_is_written_nowhere',
            'test_mcp_http.py::test_without_the_token_nobody_gets_in',
        ),
        _clause(
            'CON-PAR-09',
            'model.provider none, scripted and anthropic.',
            'test_llm_factory.py::test_no_provider_gives_no_client',
            'test_llm_factory.py::test_a_scripted_client_reads_its_file',
            'test_claude_mission.py::test_claude_looks_acts_hears_the_outcome_and_finishes',
        ),
        _clause(
            'CON-PAR-10',
            'model.provider openai: OpenAI, or any server of Chat Completions (model.base_url).',
            'test_llm_factory.py::test_an_openai_client_takes_its_key_from_the_environment',
            'test_llm_factory.py::test_a_server_of_ones_own_needs_no_key',
            'test_openai_mission.py::test_a_model_behind_chat_completions_carries_a_mission_out',
            'test_llm_openai.py::test_one_decision_with_text_and_a_tool_call',
            'test_llm_openai.py::test_the_assistant_message_is_replayed_with_its_reasoning',
            'test_llm_openai.py::test_an_unsound_call_is_marked_and_the_next_request_is_sound',
            'test_llm_openai.py::test_a_truncated_tool_call_is_marked_and_answered',
            'test_llm_openai.py::test_a_call_without_any_arguments_is_one_with_none',
            'test_llm_openai.py::test_every_family_is_asked_as_it_takes_it',
            'test_llm_any_answer.py'
            '::test_any_answer_of_chat_completions_can_be_answered_or_is_a_model_error',
        ),
        _clause(
            'CON-PAR-11',
            'model.name, base_url, max_tokens, timeout_s, thinking_budget_tokens (0 = off) and'
            ' effort reach the provider as the model takes them.',
            'test_llm_factory.py::test_settings_come_from_the_parameters',
            'test_llm_anthropic.py'
            '::test_thinking_and_effort_are_asked_for_as_the_model_takes_them',
            'test_llm_anthropic.py::test_settings_that_the_model_refuses_are_found_at_the_start',
            'test_llm_openai.py::test_limit_and_effort_are_asked_for_as_the_model_takes_them',
            'test_llm_openai.py::test_settings_that_the_model_refuses_are_found_at_the_start',
            'test_llm_profiles.py::test_any_other_name_gets_the_safest_profile',
        ),
        _clause(
            'CON-PAR-12',
            'mission.max_steps.',
            'test_harness.py::test_a_mission_ends_after_its_last_step',
        ),
        _clause(
            'CON-PAR-13',
            'mission.max_tokens.',
            'test_contract_gaps.py::test_a_mission_ends_when_its_tokens_are_spent',
        ),
        _clause(
            'CON-PAR-14',
            'skills_file and places_file.',
            'test_dispatcher.py::test_a_wrong_skills_file_is_refused_by_name',
            'test_written_files.py::test_a_pipe_or_a_device_is_refused_at_once',
            'test_written_files.py'
            '::test_what_is_no_yaml_is_refused_by_name_whatever_the_parser_raises',
            'test_dispatcher.py::test_a_place_that_was_moved_since_the_decision_stops_the_call',
        ),
        _clause(
            'CON-PAR-15',
            'world_model.enabled and world_model.history_size.',
            'test_contract_gaps.py::test_the_model_is_shown_as_much_history_as_is_configured',
            'test_world_model.py::test_switched_off_nothing_is_remembered',
        ),
        _clause(
            'CON-PAR-16',
            'snapshot.max_bytes and snapshot.stale_after_s.',
            'test_projection.py::test_a_budget_below_the_smallest_is_refused_by_name',
            'test_world_builder.py::test_a_wrong_configuration_is_refused_by_name',
            'test_world_docs.py::test_the_limits_that_are_documented_are_the_defaults',
        ),
        _clause(
            'CON-PAR-17',
            'battery.low_fraction.',
            'test_contract_gaps.py::test_what_is_salient_is_recorded_and_starts_a_turn',
        ),
        _clause(
            'CON-PAR-18',
            'navigation.accept_timeout_s, execution_timeout_s and verify_timeout_s bound an'
            ' action.',
            'test_tracker.py::test_every_end_has_its_state_and_its_reason',
            'test_tracker.py::test_a_robot_that_settles_in_time_has_arrived',
        ),
        _clause(
            'CON-PAR-19',
            'navigation.xy_tolerance_m and yaw_tolerance_rad decide what is there.',
            'test_tracker.py::test_headings_are_compared_across_the_seam',
            'test_invariants.py::test_success_is_said_only_of_what_was_seen_to_be_so',
        ),
        _clause(
            'CON-PAR-20',
            'navigation.cancel_on_timeout.',
            'test_tracker.py'
            '::test_a_goal_that_nobody_can_vouch_for_is_cancelled_where_that_is_configured',
        ),
    ),
    *_of(
        'CONTRACT, MCP',
        _clause(
            'CON-MCP-01',
            'Streamable HTTP at /mcp, for clients of both protocol eras.',
            'test_mcp_http.py::test_both_eras_are_served_at_once',
            'test_mcp_http.py::test_a_request_for_another_host_is_refused',
            'test_mcp_http.py::test_a_page_of_another_origin_is_refused',
            'test_mcp_http.py::test_a_stream_that_is_to_be_resumed_goes_on_from_now',
            'test_mcp_http.py::test_the_end_of_a_session_waits_for_what_came_before_it',
        ),
        _clause(
            'CON-MCP-02',
            '`run --mcp-stdio` serves the client that started it.',
            'test_node_stdio.py::test_the_node_serves_the_client_that_started_it',
            'test_node_stdio.py::test_it_ends_with_its_client_and_logs_on_standard_error_only',
            'test_node_stdio.py::test_a_client_that_stopped_reading_does_not_hold_up_the_end',
            'test_node_stdio.py::test_the_end_comes_in_time_though_everything_holds_it_up_at_once',
            'test_mcp_stdio.py::test_a_client_that_starts_the_server_drives_it',
        ),
        _clause(
            'CON-MCP-03',
            'The seven tools are offered in this order with these arguments and defaults.',
            'test_mcp_tools.py'
            '::test_every_tool_is_listed_with_valid_schemas_in_the_same_order_each_time',
            'test_mcp_tools.py::test_arguments_are_described_with_unit_range_and_default',
            'test_mcp_tools.py::test_every_argument_and_result_says_what_it_is',
            'test_mcp_tools.py'
            '::test_descriptions_tell_a_model_that_never_saw_the_robot_what_comes_next',
            'test_mcp_docs.py::test_every_tool_and_argument_is_documented',
        ),
        _clause(
            'CON-MCP-04',
            'navigate_to_pose and navigate_to_place are managed, the others ordinary or'
            ' read-only.',
            'test_mcp_tools.py::test_annotations_are_true',
        ),
        _clause(
            'CON-MCP-05',
            'cancel_action asks for the cancelling of one action.',
            'test_mcp_output_schemas.py::test_what_a_call_returns_satisfies_its_output_schema',
            'test_node_nav2.py::test_cancel_names_one_goal_and_no_time',
        ),
        _clause(
            'CON-MCP-06',
            'wait_for_action sends progress that only increases, and returns the outcome or, when'
            ' the time is up, the state.',
            'test_mcp_server.py::test_progress_reaches_the_client_that_asked_and_only_increases',
            'test_mcp_server.py::test_without_a_token_there_is_no_progress',
            'test_mcp_withdrawal.py'
            '::test_a_wait_tells_of_its_progress_and_ends_when_its_time_is_up',
            'test_mcp_output_schemas.py::test_what_a_call_returns_satisfies_its_output_schema',
            'test_dispatcher.py'
            '::test_a_client_that_waited_for_an_outcome_decides_on_the_world_after_it',
        ),
        _clause(
            'CON-MCP-07',
            'get_action, get_world_snapshot and list_places look.',
            'test_mcp_output_schemas.py::test_what_a_call_returns_satisfies_its_output_schema',
            'test_dispatcher.py::test_an_inactive_harness_moves_nothing_and_still_looks',
        ),
        _clause(
            'CON-MCP-08',
            "finish_mission is offered to the harness's own model loop only.",
            'test_mcp_server.py::test_finish_mission_is_refused_even_where_the_registry_has_it',
            'test_claude_mission.py::test_claude_looks_acts_hears_the_outcome_and_finishes',
        ),
        _clause(
            'CON-MCP-09',
            'Every result carries structuredContent with status and message that satisfies the'
            ' outputSchema.',
            'test_mcp_output_schemas.py::test_what_a_call_returns_satisfies_its_output_schema',
            'test_mcp_tools.py::test_every_tool_may_answer_with_every_status',
        ),
        _clause(
            'CON-MCP-10',
            'isError is true exactly for the error codes.',
            'test_mcp_tools.py::test_every_tool_may_answer_with_every_status',
            'test_contract_gaps.py::test_codes_are_exactly_those_of_the_contract',
            'test_mcp_output_schemas.py::test_every_status_of_the_contract_is_among_the_cases',
        ),
        _clause(
            'CON-MCP-11',
            'accepted: the controller took the goal; action_id is the ROS goal id in 32 hex'
            ' digits.',
            'test_end_to_end.py::test_a_verified_arrival_is_in_the_journal_as_it_was_on_the_wire',
        ),
        _clause(
            'CON-MCP-12',
            'rejected, with action_id.',
            'test_end_to_end.py::test_a_refused_goal_is_rejected_and_failed',
        ),
        _clause(
            'CON-MCP-13',
            'precondition_changed, with failed_checks and the fresh snapshot.',
            'test_preconditions.py::test_each_check_stops_the_goal_and_reports_what_it_measured',
            'test_mcp_server.py'
            '::test_a_refusal_gives_the_snapshot_that_the_next_decision_is_bound_to',
        ),
        _clause(
            'CON-MCP-14',
            'one_managed_action_per_step.',
            'test_harness.py::test_one_managed_action_a_decision_the_second_gets_its_own_result',
        ),
        _clause(
            'CON-MCP-15',
            'invalid_arguments, recorded as received.',
            'test_mcp_server.py'
            '::test_arguments_of_the_wrong_shape_move_nothing_and_are_kept_as_received',
            'test_mcp_server.py::test_arguments_that_are_no_object_are_recorded_and_refused',
        ),
        _clause(
            'CON-MCP-16',
            'unknown_tool, which names what there is.',
            'test_dispatcher.py::test_an_unknown_tool_is_answered_with_what_there_is',
            'test_dispatcher.py::test_an_error_says_what_to_do_however_long_what_was_said_is',
            'test_mcp_server.py::test_a_tool_that_does_not_exist_is_recorded_and_answered',
        ),
        _clause(
            'CON-MCP-17',
            'unknown_action and harness_inactive.',
            'test_dispatcher.py::test_an_id_that_can_be_none_is_unknown',
            'test_dispatcher.py'
            '::test_an_action_that_ended_in_an_earlier_run_is_told_of_by_every_tool',
            'test_dispatcher.py'
            '::test_where_the_journal_cannot_be_read_no_action_is_said_never_to_have_been',
            'test_mcp_output_schemas.py::test_what_a_call_returns_satisfies_its_output_schema',
            'test_dispatcher.py::test_an_inactive_harness_moves_nothing_and_still_looks',
        ),
        _clause(
            'CON-MCP-18',
            'journal_unavailable.',
            'test_invariants.py::test_no_goal_leaves_before_its_start_is_in_the_file',
            'test_invariants.py::test_on_a_full_disk_nothing_new_moves_and_looking_goes_on',
        ),
        _clause(
            'CON-MCP-19',
            'controller_unavailable.',
            'test_end_to_end.py'
            '::test_a_robot_without_a_controller_is_refused_at_once_and_still_observed',
            'test_harness.py::test_without_a_controller_the_model_is_not_asked_in_a_tight_loop',
        ),
        _clause(
            'CON-MCP-20',
            'acceptance_unknown, with action_id.',
            'test_mcp_output_schemas.py::test_what_a_call_returns_satisfies_its_output_schema',
        ),
        _clause(
            'CON-MCP-21',
            'tool_error: the text of a crash stays in the log.',
            'test_dispatcher.py::test_the_text_of_a_crash_stays_out_of_the_result',
            'test_mcp_server.py::test_a_crash_of_a_tool_is_an_answer_without_its_text',
        ),
        _clause(
            'CON-MCP-22',
            'interrupted, for a call that the end of the harness overtook.',
            'test_recovery.py::test_open_calls_are_answered_and_open_missions_ended',
        ),
        _clause(
            'CON-MCP-23',
            'wait_for_action and get_action return state, reason and evidence.',
            'test_mcp_server.py::test_a_client_sends_the_robot_and_learns_the_verified_outcome',
            'test_end_to_end.py::test_success_claimed_away_from_the_goal_is_disproved',
        ),
        _clause(
            'CON-MCP-24',
            'Statuses, states and outcome reasons are those of the contract, and no others.',
            'test_contract_gaps.py::test_codes_are_exactly_those_of_the_contract',
            'test_mcp_docs.py::test_every_status_is_documented',
        ),
        _clause(
            'CON-MCP-25',
            'Each outcome reason is reached by what it names.',
            'test_tracker.py'
            '::test_an_outcome_says_whether_it_was_this_harness_that_had_the_goal_cancelled',
            'test_tracker.py'
            '::test_a_result_does_not_say_that_nobody_answered_where_that_is_not_so',
            'test_tracker.py::test_every_end_has_its_state_and_its_reason',
            'test_end_to_end.py::test_a_result_that_never_comes_leaves_the_action_unknown',
            'test_end_to_end.py::test_a_goal_of_somebody_else_preempts_and_blocks_the_next',
            'test_recovery.py::test_an_open_action_is_settled_on_what_the_controller_still_tells',
        ),
        _clause(
            'CON-MCP-26',
            '_meta may name the decision snapshot.',
            'test_mcp_server.py::test_a_call_is_bound_to_the_snapshot_that_its_meta_names',
            'test_mcp_server.py::test_a_call_that_names_an_unknown_snapshot_is_refused',
            'test_mcp_server.py::test_a_decision_id_that_is_none_makes_the_arguments_invalid',
            'test_dispatcher.py::test_a_decision_on_a_snapshot_that_nobody_knows_is_stale',
            'test_dispatcher.py'
            '::test_a_decision_on_what_was_seen_long_ago_is_stale_though_nothing_seems_to_have_changed',
        ),
        _clause(
            'CON-MCP-27',
            'Without it a call is bound to the newest snapshot that the same client was given.',
            'test_mcp_server.py'
            '::test_a_call_is_bound_to_the_newest_snapshot_that_this_client_was_given',
            'test_mcp_server.py'
            '::test_nobody_who_only_looks_makes_the_harness_forget_what_another_saw',
            'test_mcp_server.py::test_a_client_that_may_have_been_forgotten_must_look_again',
            'test_mcp_clients.py::test_each_client_has_its_own_newest_snapshot',
            'test_mcp_clients.py'
            '::test_looking_at_an_older_snapshot_again_does_not_turn_back_the_clock',
            'test_mcp_server.py::test_a_snapshot_read_as_a_resource_binds_as_well',
        ),
        _clause(
            'CON-MCP-28',
            'Without one, to the snapshot of the moment of the call.',
            'test_mcp_server.py'
            '::test_a_client_that_saw_nothing_is_bound_to_the_moment_of_its_call',
            'test_mcp_server.py'
            '::test_a_client_without_a_name_or_session_is_bound_to_the_moment_of_its_call',
        ),
        _clause(
            'CON-MCP-29',
            'Resources for the latest world, snapshots, actions and the events of missions.',
            'test_mcp_resources.py::test_the_contracts_resources_are_listed',
            'test_mcp_resources.py::test_the_latest_world_is_taken_at_the_moment_of_reading',
            'test_mcp_resources.py::test_an_action_can_be_read_while_it_runs_and_after',
            'test_mcp_resources.py::test_what_memory_has_forgotten_is_read_from_the_journal',
            'test_mcp_many_clients.py::test_the_sdks_client_drives_every_tool_resource_and_prompt',
            'test_mcp_resources.py'
            '::test_a_missions_events_are_read_in_pages_without_gap_or_repetition',
            'test_mcp_docs.py::test_every_resource_and_meta_key_is_documented',
        ),
    ),
    *_of(
        'CONTRACT, the journal',
        _clause(
            'CON-JNL-01',
            'One SQLite file with the table `events` and its columns.',
            'test_journal_schema.py::test_the_table_is_that_of_the_contract',
            'test_journal_store.py::test_every_id_is_in_its_column',
        ),
        _clause(
            'CON-JNL-02',
            'seq starts at 1 and has no gaps; UPDATE and DELETE are refused.',
            'test_journal_schema.py::test_no_statement_changes_a_record_or_leaves_a_gap',
            'test_journal_store.py'
            '::test_append_returns_gapless_numbers_of_records_that_are_in_the_file',
        ),
        _clause(
            'CON-JNL-03',
            'payload is JSON, whatever was recorded.',
            'test_journal_store.py::test_the_payload_is_canonical_json',
            'test_journal_records.py::test_any_value_gives_canonical_json_that_sqlite_can_read',
            'test_journal_records.py'
            '::test_canonical_json_is_what_the_standard_library_writes_with_sorted_keys',
            'test_journal_records.py::test_each_number_in_canonical_json_reads_back_as_it_was',
            'test_journal_records.py::test_what_json_lacks_becomes_text',
        ),
        _clause(
            'CON-JNL-04',
            "chain is the SHA-256 over the previous row's chain and the canonical JSON of the"
            ' other columns, so that a lost or altered record shows.',
            'test_journal_schema.py::test_a_third_party_can_recompute_the_chain_as_documented',
            'test_journal_schema.py::test_the_chain_is_over_the_canonical_json',
            'test_journal_reader.py::test_an_altered_record_is_named',
            'test_journal_assertions.py::test_altered_files_are_named',
        ),
        _clause(
            'CON-JNL-05',
            'The event types and the payload keys that others read.',
            'test_contract_gaps.py::test_event_types_and_payload_keys_are_those_of_the_contract',
            'test_journal_docs.py::test_every_name_is_documented',
        ),
        _clause(
            'CON-JNL-06',
            'Readers ignore types and payload keys that they do not know.',
            'test_contract_gaps.py::test_readers_pass_over_types_and_keys_of_a_later_release',
            'test_journal_assertions.py::test_types_of_a_later_release_are_ignored',
        ),
        _clause(
            'CON-JNL-07',
            'A newer schema is refused with a clear message.',
            'test_journal_open.py::test_a_journal_of_a_newer_release_is_refused_and_left_as_it_is',
            'test_journal_migrations.py'
            '::test_what_the_next_schema_wrote_is_refused_by_this_release_and_left_as_it_is',
        ),
        _clause(
            'CON-JNL-08',
            'Migrations only add.',
            'test_journal_schema.py::test_migrations_only_add',
            'test_journal_schema.py::test_every_migration_has_a_name_and_counts_in_the_version',
            'test_journal_migrations.py'
            '::test_a_journal_of_the_first_release_is_migrated_where_it_lies',
            'test_journal_migrations.py'
            '::test_a_migrated_journal_answers_what_the_old_one_could_not',
            'test_journal_migrations.py::test_a_reader_reads_an_old_journal_and_migrates_nothing',
            'test_journal_migrations.py::test_the_next_schema_is_reached_from_every_release',
            'test_journal_migrations.py::test_a_migration_that_fails_leaves_the_journal_as_it_was',
        ),
        _clause(
            'CON-JNL-09',
            'Feedback is recorded at most once a second, a change of state always.',
            'test_recordings.py::test_feedback_at_a_hundred_hertz_is_journalled_once_a_second',
            'test_recordings.py::test_the_states_of_a_success_come_in_the_order_of_the_lifecycle',
        ),
        _clause(
            'CON-JNL-10',
            'A snapshot is recorded with the reason it was taken for, and every decision names one'
            ' that is on record.',
            'test_dispatcher.py::test_every_decision_snapshot_of_a_managed_call_is_in_the_journal',
            'test_end_to_end.py::test_a_verified_arrival_is_in_the_journal_as_it_was_on_the_wire',
            'test_fail_closed.py'
            '::test_an_emergency_stop_is_seen_while_the_model_hangs_and_the_journal_is_dead',
        ),
        _clause(
            'CON-JNL-11',
            'The order of a managed call: call < check < start < goal sent < result, and start <'
            ' outcome.',
            'test_invariants.py::test_no_goal_leaves_before_its_start_is_in_the_file',
            'test_end_to_end.py::test_a_verified_arrival_is_in_the_journal_as_it_was_on_the_wire',
            'test_journal_assertions.py::test_each_broken_promise_is_named',
        ),
        _clause(
            'CON-JNL-12',
            'One result for each call, one outcome for each start.',
            'test_dispatcher.py::test_each_call_gets_exactly_one_recorded_result_whatever_happens',
            'test_journal_assertions.py::test_each_broken_promise_is_named',
            'test_journal_assertions.py::test_a_sound_journal_has_no_violations',
        ),
        _clause(
            'CON-JNL-13',
            'The view decision_log has one row a decision, absent values NULL.',
            'test_journal_schema.py'
            '::test_the_decision_log_has_a_row_for_each_decision_of_the_model',
            'test_decision_log.py::test_each_round_of_ordinary_tools_is_a_decision_of_its_turn',
            'test_decision_log.py::test_a_failed_attempt_is_no_decision_and_its_repetition_is_one',
            'test_decision_log.py::test_an_answer_without_a_call_is_a_decision_with_no_tool',
            'test_decision_log.py'
            '::test_of_several_calls_the_one_that_was_to_move_the_robot_stands_for_the_decision',
            'test_decision_log.py'
            '::test_a_decision_whose_arguments_were_refused_and_the_better_one_are_two',
            'test_decision_log.py'
            '::test_no_query_of_the_log_goes_through_all_records_once_for_each_decision',
            'test_journal_docs.py::test_the_view_has_the_columns_that_are_named',
        ),
        _clause(
            'CON-JNL-14',
            'File mode 0600.',
            'test_journal_open.py::test_only_the_owner_can_read_any_of_it',
            'test_journal_open.py::test_a_file_that_others_could_read_is_closed_to_them',
        ),
        _clause(
            'CON-JNL-15',
            'One harness per journal: a second is refused.',
            'test_journal_open.py::test_a_second_harness_in_another_process_is_refused_until'
            '_the_first_one_dies',
            'test_journal_open.py::test_a_second_harness_in_the_same_process_is_refused',
            'test_journal_open.py::test_removing_the_lock_file_lets_no_second_harness_in_for_long',
        ),
    ),
    *_of(
        'CONTRACT, the simulated robot',
        _clause(
            'CON-SIM-01',
            'A differential-drive robot in a small world of named rooms.',
            'test_sim_world.py::test_the_shipped_places_lie_in_the_rooms_they_are_named_after',
            'test_sim_world.py'
            '::test_every_place_is_reached_from_every_other_without_touching_a_wall',
            'test_sim_world.py::test_random_trips_arrive_within_speed_limits_and_touch_nothing',
        ),
        _clause(
            'CON-SIM-02',
            'Real time or faster: time_scale.',
            'test_sim_nav2.py::test_the_robot_is_time_scale_times_faster',
            'test_sim_robot.py'
            '::test_odometry_has_its_own_origin_and_its_twist_agrees_with_its_poses',
        ),
        _clause(
            'CON-SIM-03',
            'It publishes odom, amcl_pose, battery_state and emergency_stop as robots do.',
            'test_sim_robot.py::test_topics_offer_what_robots_offer',
            'test_sim_robot.py::test_battery_and_emergency_stop_are_told_as_soon_as_they_are_set',
        ),
        _clause(
            'CON-SIM-04',
            "It serves navigate_to_pose with Nav2's own order and timing of events.",
            'test_sim_robot.py::test_a_goal_runs_through_the_events_that_nav2_was_seen_to_send',
            'test_sim_nav2.py'
            '::test_feedback_starts_at_once_with_no_distance_and_ends_with_the_goal',
            'test_sim_nav2.py::test_a_goal_is_reached_at_the_edge_of_the_tolerance_and_turned_to',
            'test_sim_nav2.py::test_a_goal_where_the_robot_stands_succeeds_as_soon_as_recorded',
            'test_sim_robot.py::test_a_result_is_kept_for_ten_seconds',
        ),
        _clause(
            'CON-SIM-05',
            'A newer goal preempts.',
            'test_sim_robot.py::test_a_newer_goal_preempts_in_the_recorded_order',
            'test_sim_nav2.py'
            '::test_a_newer_goal_preempts_and_the_old_one_is_aborted_without_a_code',
        ),
        _clause(
            'CON-SIM-06',
            'An unreachable goal is aborted with an error code.',
            'test_sim_robot.py::test_an_unreachable_goal_is_accepted_and_aborted_with_nav2s_code',
            'test_sim_nav2.py::test_a_bad_goal_is_aborted_with_the_recorded_code_and_as_soon',
            'test_sim_nav2.py::test_a_goal_without_a_path_is_aborted_after_recoveries',
        ),
        _clause(
            'CON-SIM-07',
            'A goal can be cancelled.',
            'test_sim_robot.py::test_a_goal_is_cancelled_and_cannot_be_cancelled_again',
            'test_sim_nav2.py::test_a_cancelled_goal_ends_a_moment_after_the_request',
        ),
        _clause(
            'CON-SIM-08',
            'Faults are parameters that can be set while it runs, and are refused out of range.',
            'test_sim_robot.py::test_faults_out_of_range_or_of_another_type_are_refused_and'
            '_change_nothing',
            'test_sim_robot.py'
            '::test_every_parameter_is_described_and_all_but_the_faults_are_fixed',
            'test_sim_robot.py::test_a_fault_is_set_as_people_write_it_and_refused_by_name',
            'test_sim_robot.py::test_the_documents_name_every_parameter_with_its_default',
        ),
        _clause(
            'CON-SIM-09',
            'fault.reject_goals.',
            'test_sim_robot.py::test_reject_goals',
        ),
        _clause(
            'CON-SIM-10',
            'fault.abort_after_s.',
            'test_sim_robot.py::test_abort_after',
            'test_sim_nav2.py::test_abort_after_counts_from_the_acceptance',
        ),
        _clause(
            'CON-SIM-11',
            'fault.false_success.',
            'test_sim_robot.py::test_false_success',
            'test_sim_nav2.py::test_false_success_reports_success_away_from_the_goal',
        ),
        _clause(
            'CON-SIM-12',
            'fault.drop_result.',
            'test_sim_robot.py::test_drop_result_never_ends_the_goal_until_it_is_cancelled',
            'test_sim_nav2.py::test_drop_result_drives_there_and_falls_silent_until_cancelled',
        ),
        _clause(
            'CON-SIM-13',
            'fault.accept_delay_s.',
            'test_sim_robot.py::test_a_late_answer_holds_up_nothing_else',
        ),
        _clause(
            'CON-SIM-14',
            'fault.freeze_odom and fault.freeze_localization.',
            'test_sim_robot.py::test_frozen_topics_fall_silent_and_come_back',
        ),
        _clause(
            'CON-SIM-15',
            'fault.localization_jump_m.',
            'test_sim_robot.py::test_a_localisation_jump_shows_in_the_map_pose_alone',
        ),
        _clause(
            'CON-SIM-16',
            'fault.drop_feedback.',
            'test_sim_robot.py::test_feedback_can_be_dropped',
        ),
        _clause(
            'CON-SIM-17',
            'fault.battery_fraction.',
            'test_sim_robot.py::test_battery_and_emergency_stop_are_told_as_soon_as_they_are_set',
        ),
        _clause(
            'CON-SIM-18',
            'fault.crash_after_s.',
            'test_sim_robot.py::test_it_dies_without_a_word_when_told_to',
        ),
    ),
)

_CASE = 'test_failure_cases.py::test_a_known_failure_is_told_truthfully'

_CASES = _of(
    'failure cases, section A',
    _clause(
        'K01',
        'A result that never comes ends UNKNOWN at the execution timeout.',
        _CASE,
        'test_dds_controller.py::test_a_failure_met_by_users_is_told_as_it_is',
    ),
    _clause(
        'K02',
        'A controller that dies leaves UNKNOWN, and is waited for by nobody.',
        _CASE,
        'test_dds_controller.py::test_a_failure_met_by_users_is_told_as_it_is',
        'test_dds_controller.py'
        '::test_a_server_that_comes_back_without_its_memory_is_believed_in_nothing',
        'test_node_nav2.py'
        '::test_one_server_of_two_that_goes_is_told_since_the_other_answers_from_now_on',
        'test_tracker.py'
        '::test_a_server_that_comes_back_at_once_and_lists_nothing_blocks_nobody_for_ever',
    ),
    _clause(
        'K03',
        'A terminal status 0 or without a meaning proves nothing.',
        _CASE,
        'test_dds_controller.py::test_a_failure_met_by_users_is_told_as_it_is',
    ),
    _clause(
        'K04',
        'A lost acknowledgement does not hide a goal that runs.',
        _CASE,
        'test_dds_controller.py::test_a_failure_met_by_users_is_told_as_it_is',
    ),
    _clause(
        'K05',
        'Feedback before the goal response does no harm.',
        _CASE,
        'test_dds_controller.py::test_a_failure_met_by_users_is_told_as_it_is',
    ),
    _clause(
        'K06',
        "Other clients' goals are never credited to us, and block a new one while they run.",
        _CASE,
        'test_end_to_end.py::test_a_goal_of_somebody_else_preempts_and_blocks_the_next',
        'test_dds_controller.py::test_a_failure_met_by_users_is_told_as_it_is',
        'test_preconditions.py::test_a_server_that_was_just_found_may_say_first_what_it_runs',
    ),
    _clause(
        'K07',
        'Rejection, no server and an instant abort are told apart, within a bound.',
        _CASE,
        'test_end_to_end.py::test_a_refused_goal_is_rejected_and_failed',
        'test_dds_controller.py::test_a_failure_met_by_users_is_told_as_it_is',
        'test_dispatcher.py::test_a_goal_that_was_refused_but_runs_is_unknown_and_cancelled',
        'test_tracker.py'
        '::test_a_refused_goal_that_gives_feedback_is_cancelled_and_blocks_the_next_until_it_ends',
    ),
    _clause(
        'K08',
        'Success away from the goal is FAILED, with the measured error.',
        _CASE,
        'test_end_to_end.py::test_success_claimed_away_from_the_goal_is_disproved',
        'test_dds_controller.py::test_a_failure_met_by_users_is_told_as_it_is',
    ),
    _clause(
        'K09',
        'An arrival without motion or feedback is one all the same.',
        _CASE,
        'test_dds_controller.py::test_a_failure_met_by_users_is_told_as_it_is',
        'test_verification.py'
        '::test_a_long_way_that_leads_back_is_verified_though_the_heading_of_odometry_drifts',
        'test_world_localization.py'
        '::test_what_the_wheels_have_done_is_told_in_the_directions_of_the_map',
    ),
    _clause(
        'K10',
        'Numbers of feedback are not taken for an arrival.',
        _CASE,
        'test_dds_controller.py::test_a_failure_met_by_users_is_told_as_it_is',
        'test_tracker.py::test_feedback_of_any_shape_stops_neither_the_action_nor_who_asks_for_it',
    ),
    _clause(
        'K11',
        'A localisation that jumps onto the goal confirms nothing.',
        _CASE,
        'test_world_localization.py'
        '::test_a_pose_that_contradicts_odometry_is_reported_once_as_a_jump',
        'test_dds_controller.py::test_a_failure_met_by_users_is_told_as_it_is',
        'test_verification.py::test_a_localisation_that_jumped_onto_the_goal_is_no_success',
        'test_verification.py'
        '::test_a_jump_onto_the_goal_is_none_the_truer_once_odometry_falls_silent',
        'test_verification.py'
        '::test_a_way_back_that_the_wheels_did_not_do_is_no_drift_of_their_heading',
        'test_verification.py'
        '::test_a_localisation_that_is_corrected_onto_the_goal_bit_by_bit_is_no_success',
        'test_verification.py'
        '::test_a_localisation_that_jumped_on_the_way_disproves_an_arrival_only_if_it_stays_so',
    ),
    _clause(
        'K12',
        'A robot that drives on after the end has not arrived.',
        _CASE,
        'test_dds_controller.py::test_a_failure_met_by_users_is_told_as_it_is',
        'test_world_motion.py'
        '::test_a_robot_that_is_slow_for_a_moment_as_it_turns_back_is_not_at_rest',
    ),
    _clause(
        'K13',
        'A pose from before the end is no evidence.',
        _CASE,
        'test_dds_controller.py::test_a_failure_met_by_users_is_told_as_it_is',
        'test_dds_controller.py::test_a_localiser_that_repeats_its_last_words_is_not_believed',
    ),
    _clause('K14', 'Numbers that are not finite are refused before anything is sent.', _CASE),
    _clause('K15', 'A goal in a frame that cannot be verified is refused.', _CASE),
    _clause(
        'K16',
        'Arguments of the wrong shape are refused alike on every path.',
        _CASE,
        'test_mcp_server.py'
        '::test_arguments_of_the_wrong_shape_move_nothing_and_are_kept_as_received',
    ),
    _clause(
        'K17',
        'Messages without a stamp are not fresh.',
        _CASE,
        'test_world_builder.py::test_messages_without_a_stamp_are_not_fresh',
        'test_dds_controller.py::test_a_failure_met_by_users_is_told_as_it_is',
    ),
    _clause(
        'K18',
        'Clocks that step back deceive neither ages nor timeouts.',
        _CASE,
        'test_dds_controller.py'
        '::test_simulated_time_that_starts_again_makes_what_was_seen_before_worthless',
    ),
    _clause(
        'K19',
        'A battery off its scale, or NaN, is invalid.',
        _CASE,
        'test_dds_controller.py::test_a_failure_met_by_users_is_told_as_it_is',
    ),
    _clause(
        'K20',
        'A topic that never spoke is missing, not zero.',
        _CASE,
        'test_world_motion.py::test_no_velocity_is_invented_for_a_topic_that_never_spoke',
        'test_dds_controller.py::test_a_publisher_of_any_quality_of_service_is_heard',
    ),
    _clause(
        'K21',
        'A flood of feedback delays no result and fills no journal.',
        _CASE,
        'test_dds_controller.py'
        '::test_a_flood_of_own_feedback_delays_no_result_and_fills_no_journal',
        'test_dds_controller.py'
        '::test_a_flood_of_foreign_feedback_costs_less_than_a_tenth_of_a_core',
    ),
    _clause(
        'K22',
        'Another robot in its namespace completes nothing of ours.',
        'test_two_robots.py::test_the_arrival_of_one_robot_completes_nothing_of_the_other',
    ),
    _clause('K23', 'A robot that was moved since the decision is not driven by it.', _CASE),
    _clause(
        'K24',
        'No wait inside a callback of the executor, and no goal lost to garbage collection.',
        'test_node_executor.py::test_a_goal_outlives_the_collection_of_garbage',
        'test_node_executor.py::test_a_call_that_a_callback_of_the_executor_begins_is_answered',
    ),
    _clause(
        'K25',
        'A shutdown with an open action ends in time and claims nothing.',
        'test_node_lifecycle.py::test_a_signal_cancels_the_goal_under_way_and_closes_the_journal',
        'test_node_stdio.py::test_a_client_that_stopped_reading_does_not_hold_up_the_end',
        'test_harness.py::test_a_mission_that_a_closing_harness_interrupts_gets_its_end_on_record',
        'test_kill.py::test_a_signal_with_an_action_open_ends_it_and_the_call_that_waits_as_interrupted',
    ),
    _clause(
        'K26',
        'A client that disconnects or cancels leaves one result and a tracked action; before its'
        ' goal has left, nothing is sent.',
        'test_mcp_server.py'
        '::test_a_client_that_disconnects_before_acceptance_does_not_disturb_the_action',
        'test_mcp_server.py'
        '::test_a_client_that_disconnects_leaves_its_call_to_end_and_the_server_to_serve',
        'test_mcp_server.py::test_a_client_that_cancels_its_request_ends_its_own_waiting_only',
        'test_mcp_withdrawal.py'
        '::test_a_call_that_is_cancelled_while_it_waits_for_its_turn_sends_nothing',
        'test_mcp_withdrawal.py'
        '::test_a_call_that_is_cancelled_while_its_start_is_put_on_disk_sends_nothing',
        'test_mcp_withdrawal.py'
        '::test_a_call_that_is_cancelled_after_its_goal_has_left_goes_on_and_says_so',
        'test_mcp_withdrawal.py::test_a_wait_that_is_cancelled_ends_and_leaves_the_action_alone',
    ),
    _clause(
        'K27',
        'A repeated or concurrent call is one of its own, and one goal is on the wire.',
        _CASE,
        'test_mcp_server.py'
        '::test_of_two_clients_that_want_the_robot_one_gets_it_and_the_other_the_truth',
        'test_dispatcher.py'
        '::test_of_two_calls_at_once_one_goal_goes_out_and_the_loser_is_told_of_the_other',
        'test_mcp_many_clients.py::test_eight_clients_at_once_with_one_robot_keep_all_invariants',
        'test_mcp_idempotency.py'
        '::test_a_request_repeated_without_a_key_is_a_call_of_its_own_and_learns_of_the_first',
        'test_mcp_idempotency.py'
        '::test_a_request_repeated_under_its_key_gets_the_first_result_and_nothing_is_sent_again',
    ),
    _clause(
        'K28',
        'A result of megabytes is kept as an artifact, and stays out of journal and context.',
        'test_bounding.py::test_a_picture_of_four_megabytes_leaves_a_reference_and_no_base64',
        'test_bounding.py::test_any_result_ends_up_small_and_is_json',
        'test_mcp_tools.py::test_a_picture_of_four_megabytes_reaches_no_client',
        'test_journal_records.py::test_huge_text_is_shortened_with_the_digest_of_the_whole',
    ),
    _clause(
        'K29',
        'A model that fails on the way moves nothing; retries are bounded and on record.',
        'test_llm_anthropic.py::test_a_call_in_an_incomplete_response_is_never_usable',
        'test_llm_anthropic.py::test_an_overloaded_api_is_asked_again',
        'test_llm_anthropic.py::test_attempts_are_limited',
        'test_harness.py::test_each_failed_attempt_to_ask_the_model_is_on_record',
        'test_harness.py::test_a_model_that_cannot_be_asked_ends_the_mission',
        'test_harness.py::test_a_cancelled_mission_does_not_ask_again_where_the_model_had_failed',
        _CASE,
        'test_model_kinds.py'
        '::test_of_a_broken_answer_nothing_is_carried_out_and_of_its_repetition_everything_once',
        'test_model_kinds.py'
        '::test_a_failure_that_may_pass_is_waited_out_a_bounded_number_of_times',
        'test_model_kinds.py::test_the_pause_that_a_provider_asks_for_is_kept',
        'test_model_kinds.py::test_a_failure_that_does_not_pass_ends_the_mission_at_once',
        'test_model_kinds.py'
        '::test_a_failure_inside_the_tool_loop_repeats_the_question_and_no_tool',
        'test_model_kinds.py::test_a_world_that_moved_on_during_the_retries_meets_the_check',
        'test_model_kinds.py::test_a_model_that_is_lost_leaves_no_action_behind',
        'test_model_kinds.py'
        '::test_what_fails_in_passing_on_the_wire_is_no_answer_and_may_be_asked_again',
        'test_model_kinds.py::test_what_fails_for_good_on_the_wire_says_so',
        'test_model_kinds.py::test_a_mission_survives_a_bad_line_and_acts_once',
    ),
    _clause(
        'K30',
        'A response that was cut moves nothing, and is answered.',
        'test_model_kinds.py::test_a_model_whose_answers_are_never_whole_is_not_asked_for_ever',
        'test_contract_gaps.py::test_a_cut_tool_call_moves_nothing_and_is_answered',
        'test_llm_anthropic.py::test_a_truncated_tool_call_is_marked_and_answered',
        _CASE,
        'test_model_kinds.py'
        '::test_no_call_of_an_answer_that_was_cut_is_carried_out_and_each_is_told_so',
        'test_model_kinds.py'
        '::test_arguments_that_are_no_object_move_nothing_even_in_a_whole_answer',
        'test_model_kinds.py::test_a_call_before_an_end_that_is_none_moves_nothing',
        'test_model_kinds.py::test_an_answer_cut_while_thinking_is_asked_for_again',
    ),
    _clause(
        'K31',
        'Of two physical calls one is taken, both are answered; an invented tool is named.',
        'test_harness.py::test_one_managed_action_a_decision_the_second_gets_its_own_result',
        'test_llm_anthropic.py::test_two_calls_are_answered_together_in_their_order',
        'test_dispatcher.py::test_an_unknown_tool_is_answered_with_what_there_is',
        _CASE,
        'test_model_kinds.py'
        '::test_of_several_physical_calls_one_is_carried_out_and_each_has_its_result',
        'test_model_kinds.py::test_all_calls_of_an_answer_are_answered_together_in_their_order',
        'test_model_kinds.py'
        '::test_an_invented_tool_is_answered_with_those_that_exist_and_the_loop_goes_on',
        'test_model_kinds.py::test_calls_that_share_an_id_move_nothing_and_are_answered_apart',
        'test_model_kinds.py::test_an_id_that_comes_again_in_a_later_turn_is_another_call',
        'test_model_kinds.py::test_an_id_that_comes_again_in_the_same_turn_is_another_call_too',
    ),
    _clause(
        'K32',
        'An empty or refusing answer is recorded, asked once more, and never sent back.',
        'test_harness.py'
        '::test_a_model_that_calls_no_tool_is_asked_once_more_and_then_the_mission_ends',
        'test_harness.py::test_a_model_that_only_talks_is_asked_a_bounded_number_of_times',
        'test_llm_anthropic.py::test_an_empty_end_of_turn_is_a_decision_and_is_not_sent_back',
        'test_llm_anthropic.py::test_a_refusal_is_a_decision_without_calls',
        _CASE,
        'test_model_kinds.py'
        '::test_an_answer_without_a_call_is_asked_for_once_more_and_proves_nothing',
        'test_model_kinds.py'
        '::test_an_answer_without_a_call_under_a_running_action_leaves_it_to_its_outcome',
        'test_model_kinds.py'
        '::test_a_mission_is_not_finished_before_its_model_has_heard_how_its_action_ended',
        'test_model_kinds.py'
        '::test_an_empty_end_after_a_tool_result_is_asked_about_once_and_is_never_sent_back',
        'test_model_kinds.py::test_words_beside_a_call_are_its_rationale_and_no_claim',
    ),
    _clause(
        'K33',
        'Thinking blocks go back exactly as they came.',
        'test_llm_anthropic.py::test_the_assistant_turn_is_replayed_unchanged_in_the_tool_loop',
        _CASE,
        'test_model_kinds.py'
        '::test_blocks_go_back_as_they_came_within_the_turn_and_nowhere_after_it',
        'test_model_kinds.py::test_thinking_is_on_record_once_and_in_no_history',
    ),
    _clause(
        'K34',
        'A locked journal stops new work, and loses nothing.',
        _CASE,
        'test_journal_failures.py::test_a_lock_of_another_program_fails_appends_and_delays_facts',
        'test_journal_failures.py::test_a_lock_that_goes_away_in_time_harms_nobody',
    ),
    _clause(
        'K35',
        'A full disk, or a folder that cannot be written, stops new work by name.',
        'test_invariants.py::test_on_a_full_disk_nothing_new_moves_and_looking_goes_on',
        'test_journal_failures.py::test_a_full_disk_loses_nothing_and_recovers',
        'test_journal_failures.py::test_a_file_system_without_space_says_so',
        'test_journal_full_disk.py::test_a_journal_on_a_full_disk_can_be_read',
        'test_journal_full_disk.py::test_a_start_on_a_full_disk_says_so_and_calls_nothing_damaged',
        'test_journal_open.py::test_a_path_without_permission_is_named_with_a_remedy',
        'test_fail_closed.py'
        '::test_without_a_journal_nothing_is_sent_and_all_that_happened_is_written_later',
    ),
    _clause(
        'K36',
        'A corrupt journal is refused and left alone; what was confirmed survives.',
        'test_journal_open.py::test_what_is_no_sound_journal_is_refused_and_left_as_it_is',
        'test_journal_open.py::test_a_damaged_journal_with_records_in_its_log_is_left_as_it_is',
        'test_journal_store.py::test_the_durability_is_the_one_that_was_asked_for',
        'test_journal_sync.py::test_a_record_whose_sync_failed_never_appears',
        'test_journal_log_damage.py::test_a_log_with_lost_records_is_refused_and_left_as_it_is',
        'test_journal_log_damage.py::test_a_log_that_is_something_else_is_refused',
    ),
    _clause(
        'K37',
        'Credentials reach the tool, and neither journal nor log nor model.',
        'test_redaction.py::test_a_tool_gets_credentials_as_they_are_and_nothing_else_keeps_them',
        'test_mcp_resources.py::test_resources_show_no_secret_of_an_actions_goal',
        'test_redaction.py'
        '::test_no_planted_secret_is_left_in_the_bytes_of_the_journal_or_in_the_log',
    ),
    _clause('K38', 'An abort after a safety stop is told as it is, and not repeated.', _CASE),
)

REQUIREMENTS: tuple[Requirement, ...] = (*_DESIGN, *_CONTRACT, *_CASES)
"""Every clause, in the order of the documents."""

NOT_A_CLAUSE: Mapping[str, NotAClause] = MappingProxyType(
    {
        'test_ament_lint.py': NotAClause(
            "rules of the house: ament's linters, where they are installed",
            (
                'test_flake8_finds_nothing_beside_what_setup_cfg_excepts',
                'test_pep257_finds_nothing_beside_what_is_excepted',
                'test_copyright_and_licence_are_found_once_the_spdx_tags_are_written_out',
                'test_xmllint_finds_the_manifests_valid_by_their_schema',
            ),
        ),
        'test_asking.py': NotAClause(
            "the tests' own means",
            ('test_a_client_of_an_action_does_not_end_the_thread_that_spins_its_node',),
        ),
        'test_bounding.py': NotAClause(
            'closer looks at K28: what is bounded, and how what was left out is told',
            (
                'test_a_result_that_fits_is_the_same_object',
                'test_a_reference_where_the_schema_says_text_is_put_beside_it',
                'test_what_only_looks_like_base64_is_kept_as_the_text_it_is',
                'test_an_artifact_holds_no_secret',
                'test_without_room_for_an_artifact_the_result_still_stands',
            ),
        ),
        'test_campaign.py': NotAClause(
            'the campaign itself: its oracle, its seeds and its command',
            (
                'test_10000_random_missions_have_no_false_success_and_no_broken_invariant',
                'test_a_seed_gives_the_same_mission_each_time',
                'test_a_mission_without_faults_succeeds',
                'test_one_fault_has_the_outcome_that_it_must_have',
                'test_a_localisation_that_jumped_on_the_way_is_no_success',
                'test_a_robot_that_was_carried_away_unnoticed_counts_as_deception_not_as_false',
                'test_the_oracle_notices_a_verifier_that_ignores_its_tolerance',
                'test_the_oracle_notices_a_verifier_that_looks_before_the_robot_rests',
                'test_the_oracle_notices_a_precondition_check_that_checks_nothing',
                'test_the_oracle_notices_a_localiser_that_is_silent_while_the_robot_turns',
                'test_the_oracle_notices_an_outcome_that_is_recorded_otherwise_than_it_was_announced',
                'test_the_oracle_notices_a_start_on_a_variance_that_is_no_number',
                'test_the_oracle_takes_no_motion_that_odometry_missed_for_a_silent_localiser',
                'test_the_oracle_notices_a_verifier_that_never_confirms',
                'test_an_arrival_of_which_too_little_was_told_is_undecidable_and_not_missed',
                'test_the_oracle_judges_a_run_by_the_controller_that_it_found_when_it_began',
                'test_the_oracle_notices_a_run_that_takes_silence_for_an_answer_when_it_begins',
                'test_the_oracle_notices_a_tracker_that_is_deaf_to_a_goal_that_was_refused_and_runs',
                'test_parameters_of_a_users_configuration_are_tried',
                'test_the_command_prints_a_table_and_tells_of_one_seed',
                'test_a_campaign_that_is_interrupted_says_what_came_of_the_missions_so_far',
                'test_every_kind_of_fault_is_documented_and_drawn',
            ),
        ),
        'test_cli.py': NotAClause(
            'the command line beyond its contract: its version, and faults of our own',
            (
                'test_it_tells_its_version',
                'test_a_fault_of_ours_is_not_taken_for_missing_ros',
            ),
        ),
        'test_dds_controller.py': NotAClause(
            'closer looks, over the wire, at what the decisions and facts say',
            (
                'test_a_goal_response_that_comes_again_and_says_otherwise_changes_nothing',
                'test_a_result_overtakes_the_goal_response_which_then_lies',
                'test_status_and_result_that_contradict_each_other_are_no_success',
                'test_success_with_an_error_code_is_no_success',
                'test_feedback_that_is_no_number_does_no_harm',
                'test_a_controller_that_never_answers_a_cancel_keeps_nobody_waiting',
                'test_a_jump_onto_the_goal_that_no_odometry_can_contradict_is_not_believed',
                'test_a_pose_latched_before_the_start_counts_and_odometry_never_heard_does_not',
                'test_own_feedback_is_heard_through_a_flood_of_foreign_feedback',
                'test_the_example_of_the_page_runs_as_it_stands',
                'test_the_page_names_what_both_benches_have_in_common',
            ),
        ),
        'test_demo.py': NotAClause(
            'how the demo looks, and that it keeps to itself',
            (
                'test_the_timeline_says_in_words_who_did_what',
                'test_the_timeline_survives_payloads_of_any_shape',
                'test_a_domain_in_use_is_not_taken_and_one_taken_is_held',
                'test_nothing_in_the_users_environment_leads_off_the_machine',
            ),
        ),
        'test_decision_log.py': NotAClause(
            'the view mission_usage, which the contract does not name',
            (
                'test_what_each_mission_cost_is_told_also_while_it_is_open',
                'test_what_lies_in_the_providers_cache_counts_towards_the_tokens_of_a_mission',
                'test_a_journal_in_which_no_model_was_asked_has_no_costs',
            ),
        ),
        'test_dispatcher.py': NotAClause(
            'closer looks at CON-MCP-15',
            ('test_arguments_nested_without_end_are_refused_and_recorded',),
        ),
        'test_distributions.py': NotAClause(
            'closer looks at FACT-01: driven by stand-ins for the messages of each distribution',
            (
                'test_an_arrival_is_verified_whatever_the_result_has',
                'test_a_claim_of_success_elsewhere_is_disproved_whatever_the_result_has',
                'test_an_abort_is_told_with_the_code_and_the_text_that_there_are',
                'test_a_goal_with_more_fields_than_are_filled_keeps_their_defaults',
                'test_a_goal_that_lacks_a_field_is_not_sent_and_says_which',
            ),
        ),
        'test_doctor_robot.py': NotAClause(
            "closer looks at the doctor: what it advises where a name is not the robot's",
            (
                'test_a_robot_in_another_namespace_is_reached_by_its_namespace',
                'test_a_topic_of_another_name_is_reached_by_a_remapping',
                'test_what_is_in_the_robots_own_namespace_comes_before_another_robots',
                'test_a_name_that_is_alike_in_its_last_part_alone_is_reached_by_a_remapping',
                'test_of_a_whole_fleet_a_few_names_are_told',
                'test_transforms_are_missed_only_where_somebody_publishes_them',
            ),
        ),
        'test_fail_closed.py': NotAClause(
            'closer looks at INV-3, whatever hangs or fails',
            (
                'test_what_could_not_be_written_before_the_end_is_settled_by_the_next_start',
                'test_a_skill_that_never_returns_blocks_neither_others_nor_the_end',
                'test_a_skill_that_finds_no_goal_moves_nothing',
                'test_closing_is_bounded_while_everything_hangs_at_once',
            ),
        ),
        'test_failure_semantics.py': NotAClause(
            'the table of failures, held to the cases and to the tests',
            ('test_every_kind_of_failure_has_its_row_with_the_tests_that_show_it',),
        ),
        'test_harness.py': NotAClause(
            'closer looks at how missions end',
            (
                'test_a_client_that_raises_anything_could_not_be_asked_and_that_is_on_record',
                'test_a_client_that_raises_what_is_no_exception_ends_its_mission_and_nothing_else',
                'test_a_planner_that_raises_what_is_no_exception_ends_its_mission_and_nothing_else',
                'test_a_fault_of_ours_ends_the_mission_and_its_action',
            ),
        ),
        'test_journal_assertions.py': NotAClause(
            'the checker of journals, which other tests rely on',
            (
                'test_a_second_action_of_one_turn_is_named',
                'test_open_work_is_no_violation_of_a_journal_that_is_being_written',
                'test_quotes_of_the_file_before_that_are_missing_are_named',
                'test_progress_that_was_dropped_for_want_of_room_is_missed_by_nobody',
                'test_a_rejected_and_an_unknown_action_are_sound',
                'test_what_cannot_be_read_is_a_violation',
            ),
        ),
        'test_journal_docs.py': NotAClause(
            'the page on the journal runs and tells the numbers of the code',
            (
                'test_its_programs_run',
                'test_the_numbers_are_those_of_the_code',
                'test_every_schema_is_told_and_no_page_calls_the_release_at_hand_an_old_one',
            ),
        ),
        'test_journal_failures.py': NotAClause(
            'closer looks at INV-3: which record appears when, whatever the disk does',
            (
                'test_a_cancelled_append_becomes_a_fact_that_waits',
                'test_a_file_that_comes_back_is_written_again',
                'test_a_deleted_side_file_costs_no_record',
                'test_a_log_that_is_cut_off_in_place_is_noticed_at_the_next_record',
                'test_a_file_that_is_cut_off_in_place_is_noticed_at_the_next_record',
                'test_a_log_that_another_program_empties_into_the_file_is_no_trouble',
                'test_a_commit_that_fails_once_is_repeated_within_the_bound',
                'test_what_can_be_done_meanwhile_is_done_once_while_the_disk_takes_its_time',
                'test_a_hanging_disk_shows_and_its_late_answer_decides',
                'test_a_hanging_commit_that_fails_in_the_end_leaves_no_record',
                'test_a_record_whose_time_ran_out_before_its_commit_never_appears',
                'test_an_unhealthy_journal_recovers_with_nothing_to_write',
                'test_too_many_waiting_facts_drop_the_oldest_progress_and_say_so',
                'test_facts_that_are_no_progress_are_kept_beyond_the_cap',
                'test_waiting_facts_without_any_progress_are_not_searched_again_and_again',
                'test_closing_an_unavailable_journal_is_bounded_and_says_what_is_lost',
                'test_closing_does_not_wait_for_a_disk_that_hangs',
                'test_a_record_of_another_program_stops_the_writing',
                'test_a_trigger_that_drops_records_is_noticed_at_the_next_one',
            ),
        ),
        'test_journal_full_disk.py': NotAClause(
            'closer looks at K35: what is said where there is no room',
            (
                'test_a_rotation_without_room_is_told_in_a_line_and_can_be_done_again',
                'test_whatever_sqlite_says_of_a_rotation_the_journal_goes_on',
                'test_a_lock_file_that_finds_no_room_is_a_matter_of_room',
            ),
        ),
        'test_journal_log_damage.py': NotAClause(
            'closer looks at K36: what is no damage of a log',
            (
                'test_what_a_power_failure_leaves_is_a_journal_that_goes_on',
                'test_where_commits_do_not_wait_for_the_disk_a_start_does_not_ask',
                'test_a_log_that_is_being_written_is_no_damage',
            ),
        ),
        'test_journal_open.py': NotAClause(
            'closer looks at what is refused, and in which words',
            (
                'test_what_never_was_a_journal_is_called_by_its_name_and_gets_no_lock',
                'test_a_crash_while_the_file_is_made_leaves_nothing_that_counts',
                'test_a_path_that_cannot_be_is_named_with_a_remedy',
                'test_every_refusal_is_a_harness_error_with_its_own_code',
            ),
        ),
        'test_journal_reader.py': NotAClause(
            'the reading side, which the contract leaves to us',
            (
                'test_records_come_back_as_they_were_written_through_every_filter',
                'test_reading_is_lazy_and_sees_what_is_written_meanwhile',
                'test_open_work_is_what_has_begun_and_not_ended',
                'test_missions_are_listed_in_order_with_their_ends',
                'test_a_snapshot_is_found_by_its_id',
                'test_another_process_reads_while_the_harness_writes',
                'test_readers_see_whole_transactions_only',
                'test_a_reader_that_stands_still_does_not_keep_the_log_growing',
                'test_a_closed_journal_can_be_read',
                'test_a_closed_journal_can_be_read_from_a_read_only_medium',
                'test_a_killed_writers_journal_can_be_read_from_a_read_only_medium',
                'test_what_is_not_there_is_not_made',
                'test_what_is_no_journal_is_refused',
                'test_a_path_that_leads_nowhere_is_no_journal',
                'test_a_record_is_found_by_an_id_that_no_file_can_hold_as_it_is',
            ),
        ),
        'test_journal_records.py': NotAClause(
            'closer looks at CON-JNL-03: values that JSON or SQLite cannot hold',
            (
                'test_endless_nesting_is_cut_where_it_must_be',
                'test_a_cycle_is_cut',
                'test_long_text_within_the_limit_is_kept_whole',
                'test_ids_with_anything_in_them_are_kept_readable',
                'test_a_ros_time_beyond_reason_is_recorded_as_unknown',
                'test_wild_arguments_do_not_stop_the_records_around_them',
                'test_a_wall_time_beyond_reason_stops_no_record',
            ),
        ),
        'test_journal_store.py': NotAClause(
            'closer looks at the writing side: cancellation, listeners, closing',
            (
                'test_a_cancelled_append_is_written_all_the_same',
                'test_a_cancelled_deferred_future_changes_nothing',
                'test_an_event_listener_may_write_itself',
                'test_an_event_listener_that_fails_keeps_no_other_from_hearing',
                'test_closing_writes_what_is_queued_and_a_second_time_does_nothing',
                'test_futures_that_fail_unheard_complain_to_nobody',
            ),
        ),
        'test_kill.py': NotAClause(
            'closer looks at INV-1 and DEC-17 under signals',
            (
                'test_killed_at_any_of_two_hundred_moments_nothing_is_lost_doubled_or_sent_again',
                'test_a_signal_while_the_model_thinks_and_the_robot_drives_ends_both',
            ),
        ),
        'test_llm_anthropic.py': NotAClause(
            "how one provider's interface is used, which the MODEL work goes on with",
            (
                'test_one_decision_with_text_and_a_tool_call',
                'test_a_short_retry_after_is_respected',
                'test_a_retry_after_beyond_the_deadline_ends_the_decision_at_once',
                'test_a_senseless_retry_after_is_ignored',
                'test_an_api_that_says_not_to_retry_is_not_asked_again',
                'test_a_hanging_api_ends_at_the_deadline',
                'test_the_deadline_spans_all_attempts',
                'test_a_decision_can_be_cancelled_and_the_next_one_works',
                'test_a_lost_connection_is_made_again',
                'test_a_refused_connection_names_the_endpoint',
                'test_blank_text_and_an_unfinished_thought_are_not_sent_back',
                'test_a_call_without_its_one_result_is_found_before_anything_is_sent',
                'test_text_that_has_no_utf8_form_does_not_stop_a_turn',
                'test_an_answer_that_is_no_message_is_a_model_error',
                'test_arguments_that_are_no_object_are_marked',
                'test_only_after_a_normal_end_a_call_is_usable',
                'test_an_unsound_call_is_marked_and_the_next_request_is_sound',
                'test_what_is_of_another_type_is_not_taken',
                'test_a_call_is_forced_without_thinking_where_the_model_takes_that',
                'test_no_call_is_forced_where_no_tool_is_offered',
                'test_the_longest_answer_of_a_model_can_be_asked_for',
                'test_an_unknown_model_is_named',
                'test_a_long_error_page_is_shortened',
                'test_a_missing_sdk_is_reported_with_the_command_that_installs_it',
                'test_a_client_without_a_key_is_refused_and_takes_none_that_it_was_not_given',
            ),
        ),
        'test_llm_any_answer.py': NotAClause(
            'a random look at the answers that K29 to K32 are about',
            (
                'test_any_answer_of_the_messages_api_can_be_answered_or_is_a_model_error',
                'test_a_number_beyond_all_limits_beside_a_call_of_chat_completions_is_asked_for_again',
                'test_a_number_beyond_all_limits_beside_a_call_of_the_messages_api_is_asked_for_again',
            ),
        ),
        'test_llm_chat_completions_stub.py': NotAClause(
            'the stub of Chat Completions, which other tests rely on',
            (
                'test_sound_requests_break_no_rule',
                'test_a_broken_rule_is_found',
                'test_an_answer_must_not_be_the_last_word',
                'test_a_missing_key_is_found',
                'test_a_bad_request_gets_400_and_uses_no_answer_up',
                'test_answers_get_ids_and_failures_get_headers',
            ),
        ),
        'test_llm_factory.py': NotAClause(
            'settings of models that are refused, and their page',
            (
                'test_anthropic_has_a_default_model',
                'test_a_missing_key_names_the_variable',
                'test_a_key_that_no_header_can_hold_is_refused_without_being_shown',
                'test_a_wrong_parameter_is_named',
                'test_every_parameter_is_documented',
                'test_the_documented_python_runs',
            ),
        ),
        'test_llm_messages_api_stub.py': NotAClause(
            'the stub of the Messages API, which other tests rely on',
            (
                'test_sound_requests_break_no_rule',
                'test_a_broken_rule_is_found',
                'test_a_budget_for_a_tool_loop_that_began_without_thinking_is_found',
                'test_a_call_that_was_unsound_may_come_back_mended',
                'test_a_missing_version_header_is_found',
                'test_a_bad_request_gets_400_and_uses_no_answer_up',
                'test_an_answer_is_whole_even_where_the_script_is_short',
                'test_a_failure_carries_its_type_and_its_wait',
                'test_a_wrong_key_is_refused',
                'test_an_answer_may_depend_on_the_request',
            ),
        ),
        'test_llm_long_answers.py': NotAClause(
            'closer looks at K28: what is read of an answer without end, worked with and recorded',
            (
                'test_an_answer_is_read_as_far_as_its_bound_and_no_further',
                'test_the_page_of_an_error_is_bounded_as_well_and_a_short_one_is_told',
                'test_of_a_long_answer_the_beginning_is_recorded_and_the_model_gets_it_back_whole',
                'test_a_call_with_endless_arguments_is_answered_and_not_carried_out',
                'test_an_answer_with_more_calls_than_anybody_could_answer_is_none',
                'test_an_answer_without_end_of_a_client_of_ones_own_ends_its_mission_and_nothing_else',
                'test_an_answer_with_a_name_or_an_id_without_end_is_asked_for_again',
                'test_of_an_error_without_end_the_beginning_is_told_and_it_may_still_pass',
                'test_the_longest_answer_holds_the_loop_for_no_longer_than_a_moment',
            ),
        ),
        'test_llm_openai.py': NotAClause(
            'how Chat Completions are used, and what servers may send',
            (
                'test_without_tools_nothing_is_said_about_calling_them',
                'test_a_call_without_words_goes_back_without_words',
                'test_content_in_parts_is_read_and_goes_back_in_parts',
                'test_each_call_gets_a_result_of_its_own_in_their_order',
                'test_calls_without_an_id_of_their_own_move_nothing_and_are_answered',
                'test_a_made_up_name_goes_back_in_a_form_that_the_api_takes',
                'test_arguments_as_an_object_are_taken_and_go_back_as_text',
                'test_tool_calls_of_another_shape_are_never_usable',
                'test_a_legacy_function_call_moves_nothing_and_is_answered',
                'test_a_call_in_an_incomplete_response_is_never_usable',
                'test_a_call_in_a_complete_response_is_usable',
                'test_a_refusal_is_recorded_and_its_calls_move_nothing',
                'test_an_answer_that_says_nothing_is_a_decision_and_is_not_sent_back',
                'test_what_the_harness_adds_follows_the_results',
                'test_a_call_without_its_one_result_is_found_before_anything_is_sent',
                'test_text_that_has_no_utf8_form_does_not_stop_a_turn',
                'test_a_usage_that_cannot_be_read_counts_nothing',
                'test_names_of_another_type_are_not_taken',
                'test_an_answer_that_is_no_message_is_a_model_error',
                'test_an_error_that_comes_as_an_answer_is_told',
                'test_a_busy_server_is_asked_again',
                'test_a_failure_says_whether_asking_again_may_help',
                'test_how_long_the_server_wants_to_be_left_alone_is_told',
                'test_a_hanging_server_ends_at_the_deadline',
                'test_a_refused_connection_names_the_endpoint',
                'test_an_unknown_model_is_named',
                'test_a_local_server_is_asked_without_a_key_even_if_the_environment_has_one',
                'test_a_missing_sdk_is_reported_with_the_command_that_installs_it',
            ),
        ),
        'test_llm_profiles.py': NotAClause(
            'what is known of model families',
            (
                'test_the_longest_family_name_decides',
                'test_chat_completions_have_families_of_their_own',
                'test_the_safest_profile_asks_for_nothing',
                'test_every_family_is_documented',
            ),
        ),
        'test_node_services.py': NotAClause(
            'the services of a node at its end',
            ('test_a_server_that_goes_when_the_journal_is_closed_is_nobodys_business',),
        ),
        'test_replay.py': NotAClause(
            'what is recorded so that a run can be replayed',
            (
                'test_every_recorded_run_keeps_the_promises_of_a_journal',
                'test_feedback_is_recorded_once_a_second_however_fast_it_comes',
                'test_a_list_of_goals_that_says_nothing_new_is_not_recorded_again',
                'test_the_configuration_on_record_holds_no_key',
                'test_a_run_that_has_lost_a_record_is_not_replayed',
            ),
        ),
        'test_llm_replay.py': NotAClause(
            'the provider replay, which grows the list of the contract',
            (
                'test_a_mission_replayed_is_the_same_mission',
                'test_failed_attempts_fail_again_in_the_same_way',
                'test_content_blocks_come_back_as_they_were_recorded',
                'test_signed_hidden_and_unknown_blocks_are_replayed_value_for_value',
                'test_the_last_mission_is_replayed_unless_another_is_named',
                'test_another_question_than_the_recorded_one_gets_no_answer',
                'test_a_question_beyond_the_last_answer_says_so',
                'test_a_world_that_takes_another_turn_ends_the_replay_with_what_differs',
                'test_a_mission_of_the_first_release_can_be_replayed',
                'test_a_cut_call_of_the_first_release_is_still_cut',
                'test_a_journal_that_cannot_be_replayed_is_named_at_the_start',
                'test_a_mission_whose_model_was_never_asked_cannot_be_replayed',
                'test_the_parameters_choose_journal_and_mission',
                'test_a_wrong_choice_is_refused_by_the_name_of_its_parameter',
            ),
        ),
        'test_llm_scripted.py': NotAClause(
            'the format of scripts, which the contract leaves to us',
            (
                'test_responses_come_in_their_order_and_then_the_script_is_exhausted',
                'test_the_first_unused_response_whose_condition_holds_is_taken_and_others_stay',
                'test_every_key_of_a_condition_must_hold',
                'test_a_null_last_outcome_means_that_no_action_has_ended_yet',
                'test_purpose_and_expected_outcome_are_arguments_of_the_call',
                'test_several_calls_and_nonsense_arguments_go_out_as_they_stand',
                'test_a_response_cut_at_its_limit_has_a_truncated_call',
                'test_an_error_is_raised_as_the_script_says_and_counts_as_used',
                'test_it_thinks_as_long_as_the_script_says',
                'test_a_file_is_read_and_names_the_model',
                'test_a_wrong_script_is_refused_with_file_key_and_what_is_allowed',
                'test_a_key_given_twice_is_refused',
                'test_a_file_that_is_not_yaml_is_refused',
                'test_a_missing_file_is_named',
                'test_every_script_in_the_documentation_is_accepted',
                'test_the_documented_python_runs',
                'test_every_key_is_documented',
            ),
        ),
        'test_log_flood.py': NotAClause(
            'who sends nonsense does not fill the log',
            (
                'test_a_flood_of_a_librarys_lines_is_cut_off_and_counted',
                'test_a_librarys_long_line_is_shortened',
                'test_what_the_package_says_always_gets_through',
            ),
        ),
        'test_mcp_clients.py': NotAClause(
            'bounds of what is remembered of clients',
            (
                'test_who_cannot_be_told_from_others_is_given_nothing',
                'test_a_client_that_may_have_been_forgotten_is_not_taken_for_a_new_one',
                'test_the_clients_of_one_token_make_nobody_forget_those_of_another',
                'test_a_snapshot_that_the_store_forgot_stays_the_one_that_was_given',
            ),
        ),
        'test_mcp_config.py': NotAClause(
            'what MCP clients are configured with, and that it works from an empty environment',
            (
                'test_there_is_something_to_paste_for_every_client',
                'test_below_its_heading_a_file_can_be_pasted_as_it_is',
                'test_the_command_for_claude_code_says_what_its_file_would',
                'test_a_token_is_named_and_never_printed',
                'test_an_entry_holds_what_ros_needs_and_no_other_variable',
                'test_without_ros_the_clients_that_start_the_harness_are_told_what_to_source',
                'test_every_client_can_be_chosen_and_no_other',
                'test_an_address_that_no_client_can_connect_to_is_refused',
                'test_who_has_seen_enough_of_it_may_close_the_pipe',
                'test_where_no_program_is_on_the_path_python_runs_the_module',
                'test_the_command_it_prints_starts_from_an_empty_environment',
                'test_the_programs_own_script_says_what_is_missing_instead_of_a_traceback',
            ),
        ),
        'test_mcp_docs.py': NotAClause(
            'the page on MCP runs, and names prompts and tasks',
            (
                'test_the_program_of_the_page_runs',
                'test_every_prompt_is_documented',
                'test_every_method_of_a_task_is_documented',
            ),
        ),
        'test_mcp_fuzz.py': NotAClause(
            'whatever is sent: up, one result each, memory flat, no traceback',
            (
                'test_over_http_nothing_brings_the_server_down',
                'test_over_stdio_nothing_brings_the_server_down',
            ),
        ),
        'test_mcp_http.py': NotAClause(
            'bounds and addresses of the HTTP server, which the MCP work goes on with',
            (
                'test_a_body_that_is_no_json_calls_no_tool_whatever_its_revision',
                'test_two_servers_do_not_share_a_port',
                'test_an_address_that_cannot_be_used_is_an_error_that_names_the_parameter',
                'test_loopback_needs_no_token',
                'test_whatever_the_path_another_host_or_origin_learns_nothing',
                'test_each_origin_is_looked_at_and_case_tells_no_hosts_apart',
                'test_where_all_addresses_are_listened_on_the_one_that_was_reached_is_a_host',
                'test_an_ipv4_connection_to_an_ipv6_socket_is_known_by_its_ipv4_address',
                'test_on_the_default_port_a_host_header_without_port_is_right',
                'test_a_body_beyond_the_limit_is_refused_before_it_is_read',
                'test_sessions_are_bounded',
                'test_it_stops_at_once_with_calls_streams_and_sessions_open',
                'test_a_connection_that_says_nothing_does_not_hold_up_the_stop',
                'test_it_can_be_started_again_after_a_stop',
                'test_stopping_what_never_started_does_nothing',
            ),
        ),
        'test_mcp_shares.py': NotAClause(
            'who may only look, and strangers, do not shut out who may act',
            (
                'test_tokens_that_may_only_look_have_a_part_of_what_is_served_at_once',
                'test_sessions_of_tokens_that_may_only_look_take_nobody_elses_place',
                'test_a_stream_tells_of_no_more_resources_than_a_session',
                'test_connections_that_wait_give_way_to_new_ones_the_longest_waiting_first',
                'test_connections_that_are_being_answered_give_way_to_none',
            ),
        ),
        'test_mcp_security.py': NotAClause(
            'what a token allows, how much, how often, how slowly, and what responses say',
            (
                'test_who_may_only_look_moves_nothing_and_is_told_why',
                'test_a_token_that_may_only_look_by_now_sees_its_task_and_cannot_cancel_it',
                'test_the_sdks_client_hears_the_refusal',
                'test_tools_that_a_token_does_not_allow_are_not_offered',
                'test_the_journal_names_the_token_and_its_scopes_and_never_holds_one',
                'test_an_id_under_way_in_a_session_is_refused_and_its_first_call_answered',
                'test_the_result_of_a_client_that_went_away_is_not_given_to_its_next_request',
                'test_who_names_the_session_of_another_token_is_in_the_way_of_none_of_its_ids',
                'test_an_id_is_kept_for_its_token_session_and_era',
                'test_the_journal_tells_sessions_apart_and_holds_no_id_that_speaks_for_one',
                'test_no_name_that_a_token_may_not_call_is_reached_by_a_longer_one',
                'test_keys_of_each_token_and_of_looks_are_remembered_on_their_own',
                'test_a_session_is_of_the_token_that_opened_it',
                'test_tokens_that_are_read_again_count_at_once_and_end_what_was_open_with_old_ones',
                'test_tokens_that_cannot_be_read_again_change_nothing',
                'test_a_token_of_the_environment_lets_in_and_is_needed',
                'test_a_client_that_asks_too_often_is_told_when_to_come_again',
                'test_one_clients_haste_does_not_hold_up_another',
                'test_the_steady_rate_and_a_burst_are_let_through',
                'test_clients_not_heard_of_for_longest_are_forgotten_by_the_limit',
                'test_what_any_tool_could_want_is_within_the_bounds',
                'test_what_is_beyond_a_bound_is_named',
                'test_arguments_beyond_a_bound_are_recorded_as_such_and_refused',
                'test_a_request_that_does_not_come_in_whole_in_time_is_closed',
                'test_a_connection_that_never_says_a_word_is_closed',
                'test_a_connection_that_is_idle_between_requests_is_closed',
                'test_a_second_request_that_drips_in_is_timed_too',
                'test_a_stream_on_which_nothing_is_said_stays_open',
                'test_a_call_that_takes_longer_than_the_bounds_is_answered',
                'test_a_client_that_does_not_read_is_cut_off',
                'test_a_client_that_does_not_read_at_the_end_leaves_no_error_in_the_log',
                'test_every_refusal_carries_the_security_headers',
                'test_good_answers_and_streams_carry_the_security_headers',
                'test_what_breaks_off_or_turns_to_garbage_leaves_no_traceback',
            ),
        ),
        'test_mcp_idempotency.py': NotAClause(
            'closer looks at K27: what a client says of requests that are one call',
            (
                'test_a_repeat_waits_for_the_first_while_that_is_still_under_way',
                'test_the_same_key_for_something_else_is_refused',
                'test_another_clients_key_is_another_key',
                'test_a_key_that_is_none_makes_the_arguments_invalid',
                'test_a_key_holds_across_a_restart_of_the_harness',
                'test_with_a_journal_that_cannot_be_read_a_call_with_a_key_does_nothing',
                'test_a_call_that_an_earlier_run_left_open_must_have_its_result_before_its_key_is_used',
                'test_a_call_withdrawn_before_anything_was_sent_frees_its_key',
                'test_a_call_is_not_withdrawn_while_a_repeat_still_waits_for_it',
                'test_a_repeat_of_a_call_that_has_given_up_is_a_call_of_its_own',
                'test_a_repeat_under_way_when_the_harness_closes_gets_the_first_result',
                'test_the_newest_keys_are_remembered',
                'test_a_key_is_known_however_much_was_recorded_since',
                'test_a_call_is_not_made_twice_for_all_that_others_and_looks_take_keys_for',
                'test_the_key_of_a_call_under_way_is_not_forgotten',
                'test_after_a_restart_a_key_that_was_used_anew_stands_for_its_newest_call',
                'test_the_goal_that_a_repeat_speaks_of_is_the_one_that_was_sent',
            ),
        ),
        'test_mcp_prompts.py': NotAClause(
            'the prompts, which the contract leaves open',
            (
                'test_both_prompts_are_listed_with_their_arguments',
                'test_the_briefing_says_what_the_robot_can_do_where_and_by_what_rules',
                'test_a_call_after_the_briefing_is_held_against_the_world_that_it_showed',
                'test_a_review_tells_a_missions_decisions_checks_and_outcomes_in_order',
                'test_a_review_of_a_long_mission_keeps_both_ends_and_says_what_it_leaves_out',
                'test_a_review_shows_no_secret',
                'test_a_prompt_that_cannot_be_made_is_an_error_that_says_why',
            ),
        ),
        'test_mcp_tasks.py': NotAClause(
            'the tasks extension of MCP 2026-07-28, which the contract leaves open',
            (
                'test_the_sdks_client_follows_a_task_to_the_verified_outcome',
                'test_a_task_is_on_disk_before_it_is_told_and_holds_what_the_extension_asks_for',
                'test_a_completed_task_holds_the_outcome_as_the_tools_result',
                'test_an_unknown_outcome_is_a_completed_task_with_an_error_that_says_what_is_known',
                'test_a_failed_action_is_a_completed_task_with_an_error',
                'test_a_goal_that_nobody_answered_is_a_task_too',
                'test_what_started_nothing_is_answered_at_once',
                'test_a_task_can_be_cancelled_as_a_recorded_call',
                'test_a_task_that_arrives_before_it_is_cancelled_has_arrived',
                'test_an_update_is_acknowledged_and_changes_nothing',
                'test_a_task_outlives_the_harness_that_made_it',
                'test_a_task_outlives_the_file_that_it_was_recorded_in',
                'test_a_repeat_of_the_call_gets_the_same_task',
                'test_a_client_that_does_not_declare_the_extension_sees_the_plain_tools',
                'test_a_client_of_an_earlier_era_gets_no_task_even_if_it_asks_for_one',
                'test_the_server_says_that_it_has_the_extension',
                'test_a_task_that_is_none_is_an_error',
                'test_results_of_tasks_are_asked_for_with_get_only',
                'test_a_task_belongs_to_the_token_that_made_it',
            ),
        ),
        'test_mcp_updates.py': NotAClause(
            'changes of resources, which the contract leaves open',
            (
                'test_a_stream_hears_of_the_world_and_of_the_action_that_it_asked_for',
                'test_a_session_hears_of_what_it_is_subscribed_to_until_it_takes_that_back',
                'test_both_eras_say_that_changes_are_told_of',
                'test_what_never_changes_cannot_be_subscribed_to',
                'test_stopping_does_not_wait_for_those_who_listen',
                'test_the_world_is_told_of_at_most_once_a_second_and_the_last_change_is_not_lost',
                'test_a_session_that_does_not_read_is_let_go_and_holds_up_nobody',
                'test_the_resources_of_one_session_are_bounded_and_its_end_costs_nothing',
                'test_sessions_that_ended_leave_a_subscriber_alone',
                'test_a_stream_is_acknowledged_what_it_will_be_told_of_and_refused_what_never_changes',
                'test_after_a_stop_and_a_start_changes_are_told_of_again',
                'test_nobody_who_listens_costs_nothing',
            ),
        ),
        'test_mcp_withdrawal.py': NotAClause(
            'closer looks at K26: what a lost connection is not',
            ('test_a_lost_connection_cancels_nothing_in_a_session',),
        ),
        'test_mcp_resources.py': NotAClause(
            'bounds of resources, and what is said of those that are not there',
            (
                'test_an_event_list_stays_within_its_bound',
                'test_a_snapshot_beyond_the_bound_is_projected',
                'test_what_is_not_there_is_the_sdks_not_found_error',
                'test_a_uri_with_half_a_character_names_nothing',
                'test_a_journal_that_cannot_be_read_is_an_error_that_says_so',
            ),
        ),
        'test_mcp_server.py': NotAClause(
            'bounds of requests, and what is recorded of clients',
            (
                'test_the_journal_says_which_client_called_and_never_with_what_token',
                'test_arguments_nested_without_end_are_refused_and_the_server_goes_on',
                'test_a_client_that_does_not_read_its_progress_holds_up_no_call',
                'test_a_method_that_is_not_served_is_a_protocol_error',
            ),
        ),
        'test_mcp_settings.py': NotAClause(
            'which token files are taken',
            (
                'test_loopback_is_recognised',
                'test_nothing_else_counts_beside_a_token_alone_and_is_refused',
                'test_a_token_that_could_be_guessed_is_refused',
                'test_no_file_is_no_token_on_loopback',
                'test_a_file_without_a_token_is_refused',
                'test_a_token_that_no_header_can_carry_is_refused_without_repeating_it',
                'test_a_file_that_everybody_can_read_or_change_is_refused',
                'test_a_missing_file_is_refused',
                'test_a_folder_or_binary_file_is_refused',
                'test_several_tokens_have_names_and_scopes',
                'test_a_line_that_cannot_be_meant_is_refused_by_its_number',
                'test_a_file_of_comments_holds_no_token',
                'test_the_environment_may_hold_the_token_instead',
                'test_an_empty_variable_is_no_token',
                'test_file_and_environment_together_are_refused',
            ),
        ),
        'test_mcp_stdio.py': NotAClause(
            'how lines are read from standard input',
            (
                'test_the_program_ends_though_its_client_keeps_the_pipe_open',
                'test_lines_come_whole_whatever_the_pieces',
                'test_a_line_without_end_is_refused_and_what_follows_is_read',
                'test_a_line_that_is_no_message_is_answered_under_its_id_where_it_has_one',
                'test_a_line_that_is_a_message_is_passed_on',
                'test_messages_before_and_after_a_refused_line_come_through_and_empty_lines_do_not_count',
            ),
        ),
        'test_mcp_tools.py': NotAClause(
            'how results are worded for clients that read only text',
            (
                'test_text_says_the_message_and_the_facts_as_compact_json',
                'test_a_message_that_says_it_all_stands_alone',
                'test_text_that_would_be_too_long_names_what_it_leaves_out',
                'test_what_json_lacks_becomes_text',
            ),
        ),
        'test_last_look.py': NotAClause(
            'closer looks at invariant 3: what is checked right before a goal is sent',
            (
                'test_a_start_that_reaches_the_disk_at_once_is_looked_at_once',
                'test_what_is_heard_while_the_start_is_written_counts_however_quick_the_disk',
                'test_whatever_stands_in_the_way_differently_is_news',
            ),
        ),
        'test_launch_files_static.py': NotAClause(
            'launch files: each names only what there is, and starts what it says',
            (
                'test_these_are_the_launch_files_of_the_package',
                'test_every_argument_has_a_description_and_a_default_among_its_choices',
                'test_every_configuration_that_is_referred_to_is_an_argument',
                'test_every_argument_is_documented',
                'test_every_executable_is_installed_by_the_build',
                'test_every_default_file_is_there_and_is_yaml',
                'test_every_parameter_that_is_set_is_one_of_the_node',
                'test_an_argument_that_is_given_becomes_a_parameter_of_its_type',
                'test_an_argument_that_is_left_out_leaves_the_parameters_file_alone',
                'test_choices_are_those_of_the_parameters',
                'test_a_file_of_parameters_that_is_not_there_is_refused_by_name',
                'test_what_is_no_number_is_refused_by_name',
                'test_the_time_of_the_built_in_robot_is_the_systems',
                'test_the_loopback_file_includes_the_one_that_the_distribution_has',
                'test_the_harness_takes_the_time_that_the_loopback_simulator_stamps_by',
                'test_a_namespace_that_the_loopback_simulator_has_not_is_refused',
                'test_the_gazebo_file_hands_the_namespace_and_the_start_to_nav2',
                'test_localisation_is_told_where_the_simulated_robot_begins',
                'test_a_package_that_is_missing_is_named_with_what_to_install',
                'test_a_nav2_without_the_loopback_simulation_is_told',
                'test_the_places_of_the_turtlebot3_world_can_be_gone_to',
                'test_the_places_of_the_turtlebot3_world_are_free_in_its_map',
            ),
        ),
        'test_node_nav2.py': NotAClause(
            'closer looks at the client of Nav2',
            (
                'test_nothing_is_delivered_after_closing',
                'test_the_first_word_of_a_goal_gives_others_time_and_nothing_else_does',
                'test_a_goal_that_was_made_ready_is_sent_as_it_is_while_its_stamp_holds',
                'test_a_goal_that_was_made_ready_goes_out_in_no_other_s_place',
                'test_a_goal_that_was_made_ready_is_not_sent_to_a_server_that_has_gone',
                'test_a_goal_that_was_made_ready_grows_old_though_simulated_time_stands_still',
                'test_a_goal_that_cannot_be_made_ready_is_told_of_when_it_is_sent',
            ),
        ),
        'test_node_topics.py': NotAClause(
            'closer looks at CON-ROS and CON-PAR-01 from outside the node',
            ('test_a_mission_that_the_end_of_the_node_interrupts_is_ended_and_told_so',),
        ),
        'test_packaging.py': NotAClause(
            'rules of the house: versions, licences, descriptions, shipped files',
            (
                'test_package_xml_is_valid_for_the_tools_that_read_it',
                'test_the_changelog_is_one_that_a_release_can_be_made_of',
                'test_versions_agree',
                'test_description_is_the_same_everywhere',
                'test_every_interface_field_is_explained',
                'test_every_source_file_carries_its_licence',
                'test_shipped_configuration_is_found_from_the_source_tree',
                'test_message_definitions_are_found_from_the_source_tree',
                'test_errors_name_the_libraries_of_the_extras',
                'test_what_everybody_needs_is_known_by_the_name_that_is_imported',
                'test_the_pytest_of_every_distribution_knows_the_options_of_the_tests',
                'test_a_missing_configuration_file_is_named',
            ),
        ),
        'test_places.py': NotAClause(
            'closer looks at the file of places, and at what is remembered of it',
            (
                'test_a_wrong_file_is_refused_by_name_with_its_reason',
                'test_coordinates_at_the_limit_are_taken',
                'test_a_global_frame_with_a_leading_slash_is_the_frame_without_it',
                'test_each_edit_that_cannot_be_read_is_logged_and_a_later_good_one_counts',
                'test_what_the_book_has_forgotten_is_unknown_and_stops_the_call',
                'test_a_place_that_was_only_named_after_the_decision_stops_the_call_and_says_so',
            ),
        ),
        'test_projection.py': NotAClause(
            'closer looks at PIECE-03',
            (
                'test_what_is_not_available_says_why',
                'test_what_does_not_exist_is_null_and_not_an_omission',
                'test_many_goals_of_others_are_counted_and_the_first_are_listed',
                'test_a_long_text_is_cut_visibly_and_listed',
                'test_a_goal_that_is_no_plain_json_is_shown_all_the_same',
                'test_utm_coordinates_keep_their_millimetres',
            ),
        ),
        'test_redaction.py': NotAClause(
            'closer looks at K37',
            (
                'test_a_look_at_a_record_lets_nothing_through_that_would_be_hidden',
                'test_a_short_secret_is_hidden_whatever_stands_before_it',
                'test_a_declared_secret_is_hidden_even_where_it_is_short',
                'test_marks_are_found_on_fields_of_every_kind',
                'test_the_model_gets_its_own_words_back_unchanged_and_the_journal_gets_none_of_them',
                'test_a_text_that_shows_a_secret_is_rid_of_it',
                'test_a_text_that_only_speaks_of_secrets_stays',
                'test_which_keys_are_secret',
                'test_what_a_call_taught_is_found_in_each_spelling_and_a_short_value_only_alone',
                'test_a_known_secret_is_found_however_it_was_encoded',
                'test_a_secret_is_known_by_the_name_beside_it_in_any_form',
                'test_numbers_of_a_robot_and_words_that_mean_something_else_stay',
                'test_prose_that_speaks_of_keys_costs_next_to_nothing',
                'test_a_secret_that_is_a_word_of_the_record_does_not_change_what_the_record_says',
                'test_what_robots_and_places_are_called_and_measured_by_is_a_secret_in_its_own_call_alone',
                'test_whoever_may_only_look_makes_nothing_of_others_unreadable',
                'test_keys_of_a_process_are_kept_while_those_of_calls_are_forgotten_in_time',
                'test_values_that_are_no_json_are_looked_through_as_well',
                'test_a_number_that_python_refuses_to_print_stops_no_record_and_is_hidden_as_a_secret',
                'test_a_record_too_long_to_be_kept_whole_is_looked_at_without_being_walked_through',
                'test_a_log_record_that_cannot_be_formatted_passes_and_others_are_changed_once',
                'test_what_is_no_secret_is_left_untouched',
                'test_no_text_breaks_the_redactor_and_twice_is_as_good_as_once',
                'test_hostile_texts_take_no_more_than_linear_time',
                'test_an_ordinary_call_pays_next_to_nothing',
                'test_a_response_without_tools_is_the_same_object',
                'test_the_page_names_all_that_is_taken_for_a_secret_and_its_example_runs',
            ),
        ),
        'test_report.py': NotAClause(
            'the report beyond its command, which belongs to the SEE work',
            (
                'test_the_story_tells_each_decision_with_what_came_of_it',
                'test_a_robot_that_was_pushed_has_a_path_with_a_gap',
                'test_the_page_says_in_words_what_was_claimed_and_what_is_true',
                'test_the_decision_table_has_everything_that_the_journal_knows_of_a_decision',
                'test_the_cost_is_the_one_that_the_journal_counts',
                'test_the_timeline_says_how_long_states_lasted_and_how_old_the_knowledge_was',
                'test_an_archive_is_reported_like_the_journal_that_it_was',
                'test_the_page_asks_nobody_for_anything_and_runs_nothing',
                'test_the_page_can_be_read_by_everybody',
                'test_text_stands_out_from_its_ground_in_both_colour_schemes',
                'test_the_map_is_well_formed_and_shows_goals_and_positions',
                'test_nothing_from_outside_becomes_markup',
                'test_coordinates_that_no_robot_has_do_not_spoil_the_map',
                'test_payloads_of_unexpected_shapes_are_shown_as_far_as_they_go',
                'test_without_an_id_the_newest_missions_and_the_calls_outside_them_are_shown',
                'test_the_circle_that_counts_as_there_is_drawn_before_the_action_has_ended',
                'test_the_circle_of_a_file_that_a_rotation_began_is_that_of_the_file_before',
                'test_after_a_rotation_the_report_says_which_file_has_what_was_before',
                'test_one_of_a_thing_is_no_plural',
                'test_an_instruction_of_many_words_opens_below_a_heading',
                'test_a_page_about_calls_that_moved_nothing_says_so',
                'test_a_mission_of_very_many_actions_is_a_page_that_can_still_be_read',
                'test_each_decision_has_its_reasons_once_whichever_mission_it_is_of',
                'test_one_mission_can_be_asked_for_and_an_unknown_one_is_named',
                'test_an_empty_journal_gives_a_page_that_says_so',
                'test_a_file_that_is_no_sound_journal_is_refused_by_name',
                'test_the_report_is_written_whole_or_not_at_all',
                'test_long_texts_are_cut_and_say_so',
                'test_measured_values_are_told_in_short',
                'test_durations_are_told_in_the_unit_that_fits',
                'test_grid_lines_stand_at_round_numbers',
                'test_a_report_into_a_device_leaves_the_device_and_nowhere_is_named',
            ),
        ),
        'test_ros_texts.py': NotAClause(
            'texts of any kind in messages',
            (
                'test_what_ros_can_carry_is_left_as_it_is',
                'test_the_result_of_a_mission_arrives_whatever_its_texts_hold',
                'test_a_record_is_told_whatever_its_ids_and_payload_hold',
            ),
        ),
        'test_node_tokens.py': NotAClause(
            'how access tokens are changed while the node runs',
            ('test_a_node_that_is_activated_again_knows_the_tokens_that_the_file_has_by_then',),
        ),
        'test_security_policy.py': NotAClause(
            'the SROS 2 policy, and that the page on security is right',
            (
                'test_the_policy_is_what_both_nodes_open_when_they_run',
                'test_every_interface_of_the_page_is_allowed',
                'test_nobody_else_may_call_what_the_harness_serves',
                'test_names_hold_in_every_namespace',
                'test_the_security_page_names_every_bound_and_header',
            ),
        ),
        'test_setup_env.py': NotAClause(
            'how set-up tells of its jobs',
            (
                'test_a_long_job_tells_that_it_goes_on',
                'test_a_failed_job_hands_over_its_output',
                'test_env_sh_notices_that_the_folder_was_moved',
            ),
        ),
        'test_sim_nav2.py': NotAClause(
            'closer looks at CON-SIM-04 to CON-SIM-12',
            (
                'test_a_heading_of_half_a_turn_is_met_from_either_side',
                'test_goals_in_quick_succession_leave_the_last_one',
                'test_an_impossible_goal_preempts_all_the_same',
                'test_a_preempting_goal_in_an_unknown_frame_drives_on_to_the_old_goal_as_recorded',
                'test_a_goal_is_cancelled_in_the_moment_of_its_acceptance',
                'test_cancelling_what_is_unknown_or_over_does_nothing',
                'test_false_success_works_on_a_goal_that_already_runs',
                'test_a_goal_with_a_dropped_result_is_preempted_like_any_other',
                'test_an_emergency_stop_holds_the_robot_and_the_goal_fails_for_want_of_progress',
                'test_a_goal_goes_on_when_the_emergency_stop_is_released_in_time',
                'test_a_robot_that_was_pushed_finds_its_way_again',
                'test_no_time_or_a_lot_at_once_does_no_harm',
                'test_goals_are_taken_in_the_frames_that_the_robot_has',
                'test_a_goal_that_is_no_number_is_in_no_frame',
            ),
        ),
        'test_sim_robot.py': NotAClause(
            'faults and frames beyond those of the contract',
            (
                'test_an_emergency_stop_is_told_and_starves_a_goal_of_progress',
                'test_a_goal_in_the_odometry_frame_is_taken_through_its_origin',
                'test_a_push_moves_the_robot_once_each_time',
            ),
        ),
        'test_sim_world.py': NotAClause(
            'the geometry and physics of the simulation',
            (
                'test_angles_wrap_into_one_turn',
                'test_a_pose_taken_into_a_frame_and_back_is_itself',
                'test_odometry_turned_by_a_quarter_sees_north_as_ahead',
                'test_a_rectangle_knows_what_passes_through_it',
                'test_a_path_through_two_doors_goes_round_the_jambs',
                'test_there_is_no_path_to',
                'test_reported_speeds_agree_with_the_poses',
                'test_the_robot_brakes_to_rest_when_nothing_is_wanted',
                'test_the_bumper_stops_the_robot_at_a_wall',
                'test_a_push_moves_the_robot_along_the_map_x_axis_and_shows_as_speed',
                'test_a_push_ends_at_a_wall',
                'test_the_battery_fills_only_at_rest_at_the_dock',
                'test_the_battery_stays_between_empty_and_full',
                'test_another_building_can_be_made',
            ),
        ),
        'test_skill_interfaces.py': NotAClause(
            'a skills file against the ROS types that it names',
            (
                'test_what_fits_its_types_is_taken',
                'test_what_does_not_fit_is_refused_by_the_skill_and_the_field',
                'test_shipped_skills_are_left_out_where_their_types_are_not_installed',
            ),
        ),
        'test_spinner.py': NotAClause(
            'the end of a node that a thread of its own spins',
            (
                'test_an_end_waits_until_the_thread_has_used_the_executor',
                'test_a_callback_that_hangs_does_not_hold_up_the_end',
                'test_what_a_callback_raises_is_told_and_the_thread_goes_on',
            ),
        ),
        'test_user_code.py': NotAClause(
            "other packages' code: what it may take, and what of it is told",
            (
                'test_a_goal_that_is_never_made_is_an_error_and_holds_nobody_up',
                'test_a_goal_function_that_raises_ends_its_call_and_nothing_else',
                'test_what_a_goal_function_anticipates_is_told_to_the_caller',
                'test_a_goal_that_is_none_is_an_error',
                'test_a_managed_skill_that_is_a_coroutine_is_refused_when_it_is_made',
                'test_a_verifier_that_never_answers_leaves_its_action_unknown_and_holds_nobody_up',
                'test_a_verifier_that_never_names_its_waypoints_judges_without',
                'test_a_plain_skill_that_blocks_holds_nobody_up_however_long',
                'test_what_hangs_keeps_no_process_alive_and_says_nothing_at_the_end',
                'test_what_comes_too_late_is_dropped_without_a_word',
            ),
        ),
        'test_verification.py': NotAClause(
            'closer looks at PIECE-08',
            (
                'test_wheels_that_slipped_as_wheels_do_are_no_contradiction',
                'test_a_cancel_while_the_outcome_waits_for_the_disk_is_not_recorded_after_it',
            ),
        ),
        'test_verification_parameters.py': NotAClause(
            'each limit of the verification can be set for a robot',
            (
                'test_these_are_all_parameters_of_the_verification',
                'test_a_parameter_counts_for_the_actions_that_start_after_it_was_changed',
            ),
        ),
        'test_world_builder.py': NotAClause(
            'closer looks at PIECE-01',
            (
                'test_feedback_without_a_number_leaves_the_distance_out',
                'test_an_emergency_stop_that_is_a_heartbeat_goes_stale_where_configured',
                'test_anomalies_are_taken_once_and_bounded',
            ),
        ),
        'test_world_clock.py': NotAClause(
            'closer looks at DEC-08',
            (
                'test_a_backward_step_shows_even_after_a_long_silence',
                'test_a_reading_of_the_other_thread_that_comes_late_is_no_jump',
                'test_a_clock_that_drifts_slowly_does_not_jump',
            ),
        ),
        'test_world_docs.py': NotAClause(
            'the page on the snapshot runs and names every field',
            (
                'test_the_example_runs',
                'test_every_field_and_value_is_documented',
                'test_every_observed_field_of_a_snapshot_is_in_the_table',
            ),
        ),
        'test_world_geometry.py': NotAClause(
            'the plane geometry under DEC-14',
            (
                'test_half_a_turn_either_way_is_plus_pi',
                'test_what_is_no_direction_wraps_to_nan',
                'test_a_transform_and_its_inverse_cancel',
                'test_composition_is_associative',
                'test_a_child_ahead_of_a_parent_that_looks_left_lies_to_the_left',
                'test_turning_across_the_seam_takes_the_short_way',
            ),
        ),
        'test_world_localization.py': NotAClause(
            'closer looks at FACT-07 and K11',
            (
                'test_a_pose_without_odometry_stands_alone_with_its_own_age',
                'test_a_pose_from_before_odometry_was_heard_is_carried_from_the_first_odometry',
                'test_turning_on_the_spot_far_without_a_word_from_the_localiser_shows_it_dead_too',
                'test_the_same_pose_sent_again_with_its_old_stamp_is_no_sign_of_life',
                'test_a_localiser_that_was_asked_to_speak_at_rest_is_known_again_by_its_habit_in_motion',
                'test_poses_while_driving_do_not_make_a_localiser_periodic',
                'test_a_turn_of_the_estimate_is_a_jump_and_one_across_the_seam_is_not',
                'test_small_corrections_and_long_trips_are_no_jumps',
                'test_a_transform_without_a_localisers_message_has_no_covariance',
                'test_a_transform_that_jumps_is_reported_as_well',
                'test_odometry_that_starts_anew_carries_no_old_pose',
                'test_odometry_of_two_robots_on_one_topic_carries_nothing',
                'test_one_odometry_stamp_from_the_future_does_not_stop_the_carrying',
                'test_odometry_that_cannot_be_believed_carries_nothing',
                'test_unstamped_odometry_carries_where_that_is_configured',
                'test_nothing_heard_is_missing',
                'test_a_localiser_that_speaks_at_rest_stays_known_through_a_gap_in_motion',
                'test_a_jump_of_the_localisation_shows_across_a_jump_of_the_clock',
            ),
        ),
        'test_world_motion.py': NotAClause(
            'closer looks at DEC-10',
            (
                'test_the_same_transform_looked_up_again_is_one_measurement',
                'test_poses_in_another_frame_never_feed_the_window',
                'test_a_source_whose_own_clock_was_set_back_is_measured_anew',
            ),
        ),
        'test_world_samples.py': NotAClause(
            'closer looks at PIECE-01 and DEC-07',
            (
                'test_what_was_never_received_is_missing_and_has_no_value',
                'test_a_source_that_is_late_on_arrival_is_told_apart_from_one_that_is_silent',
                'test_a_number_that_is_not_finite_never_reaches_a_snapshot',
                'test_whether_a_value_is_finite_is_asked_of_every_float_in_it',
            ),
        ),
        'test_values.py': NotAClause(
            'values that cannot be printed or counted',
            (
                'test_what_cannot_be_printed_becomes_a_note',
                'test_a_finding_about_a_huge_integer_is_told',
                'test_usage_that_is_no_count_is_not_counted',
                'test_a_finding_names_the_key_and_no_class_of_ours',
            ),
        ),
        'test_skill_clients.py': NotAClause(
            'clients of actions that a robot may lack',
            (
                'test_a_client_is_made_when_its_server_is_seen_and_then_drives_it',
                'test_a_goal_that_the_type_does_not_take_is_not_sent_and_told_so',
                'test_a_server_of_a_type_that_this_machine_lacks_is_said_once_and_left_alone',
            ),
        ),
        'test_skill_docs.py': NotAClause(
            'the page on writing a skill shows what is tested',
            (
                'test_every_example_of_the_page_is_part_of_the_tested_package',
                'test_the_page_names_every_verifier_and_what_it_reads',
                'test_the_page_names_every_key_of_a_mapped_tool',
            ),
        ),
        'test_skill_filling.py': NotAClause(
            'how goals and requests are filled by the types of their fields',
            (
                'test_a_navigation_goal_is_stamped_with_the_time_of_sending',
                'test_poses_of_a_tour_fill_the_message_of_kilted_and_the_list_of_jazzy',
                'test_seconds_fill_a_duration',
                'test_backing_up_goes_backwards_along_x_only',
                'test_what_a_template_leaves_out_keeps_the_messages_own_default',
                'test_a_value_that_a_field_does_not_take_is_refused_by_name',
                'test_whatever_a_message_holds_comes_back_as_json',
                'test_a_fixed_array_of_numbers_is_told_as_a_list',
                'test_a_type_that_this_machine_lacks_is_an_import_error',
            ),
        ),
        'test_skill_mapping.py': NotAClause(
            'what the skills file and entry points may say, and how mistakes are told',
            (
                'test_a_mapped_action_has_the_schema_that_its_arguments_say',
                'test_a_mistake_in_a_mapped_action_is_named_with_its_key',
                'test_a_mistake_in_a_mapped_service_is_named_with_its_key',
                'test_an_entry_that_makes_nothing_and_names_no_skill_is_refused',
                'test_one_name_cannot_have_two_types',
                'test_what_a_verifier_would_not_be_able_to_read_is_named',
                'test_an_argument_may_be_called_as_the_harness_calls_its_own',
                'test_choices_are_held_to_with_their_type',
                'test_a_mapped_action_that_is_switched_off_is_no_tool',
                'test_a_skill_of_another_package_is_found_by_its_entry_point',
                'test_an_entry_point_that_cannot_be_loaded_is_named_and_can_be_switched_off',
                'test_switching_off_what_is_not_there_is_told_in_the_log',
                'test_an_entry_point_that_leads_to_no_skill_is_named',
            ),
        ),
        'test_skill_moves.py': NotAClause(
            'each shipped skill on the simulated robot, done and only claimed',
            (
                'test_a_spin_turns_the_robot_more_than_once_round',
                'test_a_spin_that_stops_half_way_and_claims_success_is_disproved',
                'test_a_robot_backs_up_and_drives_on',
                'test_a_stretch_that_is_cut_short_is_disproved',
                'test_wheels_that_say_nothing_leave_the_number_of_turns_unknown',
                'test_a_tour_goes_by_its_poses_in_their_order',
                'test_a_tour_that_misses_a_pose_and_arrives_is_a_failure',
                'test_a_robot_docks_where_it_charges_and_comes_off_again',
                'test_a_dock_without_current_belies_a_success',
                'test_an_undocking_that_stays_on_the_dock_is_disproved',
                'test_a_battery_that_says_not_whether_it_charges_leaves_a_docking_unknown',
                'test_a_dock_that_nobody_knows_is_a_failure_with_the_servers_code',
            ),
        ),
        'test_skill_package.py': NotAClause(
            "skills of somebody else's package and of YAML, over DDS",
            (
                'test_a_skill_from_another_package_is_a_tool_with_its_own_result',
                'test_a_skill_that_blocks_holds_up_nobody_else',
                'test_a_managed_skill_of_another_package_is_judged_by_its_own_verifier',
                'test_an_action_mapped_by_yaml_is_verified_by_a_shipped_kind',
                'test_an_action_mapped_by_yaml_that_only_claims_success_is_disproved',
                'test_a_success_that_nobody_verifies_stays_unknown',
                'test_arguments_of_a_mapped_tool_are_held_to_their_ranges',
                'test_a_service_mapped_by_yaml_is_a_tool_while_its_server_is_there',
            ),
        ),
        'test_skill_services.py': NotAClause(
            'tools that call services: closer looks at INV-1 and INV-3',
            (
                'test_a_request_is_filled_and_a_response_told_as_mapped',
                'test_a_service_that_says_no_or_nothing_is_an_error_of_the_tool',
                'test_a_call_that_acts_is_on_disk_before_the_request_leaves',
                'test_what_acts_is_not_called_while_the_journal_cannot_be_written',
                'test_what_acts_is_not_called_while_the_harness_is_inactive',
                'test_the_tool_of_a_service_comes_and_goes_with_its_server',
                'test_a_request_is_not_sent_for_arguments_that_are_none',
            ),
        ),
        'test_skill_several.py': NotAClause(
            'several actions of one robot, and tools that come and go with their servers',
            (
                'test_a_goal_goes_to_the_action_of_its_skill_as_the_fields_of_its_message',
                'test_one_action_moves_the_robot_at_a_time_whichever_it_is',
                'test_a_goal_of_somebody_else_on_any_action_stands_in_the_way_of_all',
                'test_a_recovery_of_the_navigator_is_no_goal_of_somebody_else_while_it_navigates_for_us',
                'test_a_goal_of_somebody_else_on_another_action_is_told_while_nothing_of_ours_runs',
                'test_a_navigation_of_somebody_else_is_no_part_of_a_move_on_the_spot',
                'test_a_tool_goes_with_its_server_and_comes_back_with_it',
                'test_a_server_that_only_blinks_takes_no_tool_away',
                'test_navigation_is_offered_without_its_server',
                'test_a_spin_that_is_taken_does_not_replace_a_drive_that_may_still_run',
                'test_a_run_of_several_actions_replays_identically',
                'test_skills_of_one_type_may_go_to_differently_named_actions',
                'test_what_a_move_may_be_asked_for_is_bounded',
                'test_a_spin_is_verified_by_the_turn_that_odometry_counted',
            ),
        ),
        'test_skill_tools_over_mcp.py': NotAClause(
            'tools that come and go, as MCP clients see them',
            (
                'test_a_stream_hears_that_a_tool_came',
                'test_a_session_that_has_listed_the_tools_hears_that_one_went',
                'test_each_shipped_skill_is_a_destructive_tool_with_bounded_arguments',
            ),
        ),
        'test_skill_verifiers.py': NotAClause(
            'closer looks at INV-2: what each verifier makes of what was observed',
            (
                'test_a_turn_of_any_size_and_sign_is_confirmed_by_what_odometry_counted',
                'test_a_turn_by_another_angle_is_never_confirmed',
                'test_a_turn_the_other_way_is_disproved',
                'test_a_heading_on_the_map_alone_never_confirms_more_than_half_a_turn',
                'test_a_heading_on_the_map_alone_confirms_a_smaller_turn',
                'test_a_turn_of_which_odometry_and_the_map_tell_different_things_is_inconclusive',
                'test_odometry_that_is_silent_at_rest_has_counted_the_turn_before',
                'test_odometry_that_fell_silent_a_turn_too_early_proves_nothing',
                'test_nothing_heard_of_the_world_since_leaves_a_turn_inconclusive',
                'test_a_stretch_along_any_heading_is_confirmed',
                'test_a_robot_that_ended_elsewhere_has_not_gone_the_stretch',
                'test_less_than_half_of_what_was_asked_for_is_none_of_it_however_short',
                'test_a_stretch_backwards_is_none_forwards_and_a_drift_to_the_side_is_neither',
                'test_wheels_that_turned_under_a_robot_that_did_not_move_prove_nothing',
                'test_one_source_decides_where_the_other_is_silent',
                'test_a_docking_is_judged_by_whether_the_battery_charges',
                'test_an_undocking_is_judged_by_battery_and_motion',
                'test_wheels_that_slip_a_little_do_not_make_a_turn_of_any_size_doubtful',
                'test_a_robot_that_only_its_wheels_or_its_map_moved_has_not_come_off_its_dock',
                'test_no_verifier_confirms_on_what_was_seen_before_the_end_or_while_it_moves',
                'test_no_verifier_confirms_what_the_controllers_own_result_speaks_against',
                'test_nobody_who_verifies_leaves_every_success_inconclusive',
                'test_a_tour_is_done_where_all_poses_were_passed_and_the_last_one_reached',
                'test_full_turns_are_counted_however_the_heading_wraps',
                'test_a_turn_while_odometry_was_silent_is_not_known',
                'test_odometry_that_was_silent_at_rest_is_known_to_have_stood_still',
                'test_a_way_through_all_places_passes_them_in_order',
                'test_places_in_the_wrong_order_are_not_passed',
                'test_a_localisation_that_jumps_passes_nothing_on_the_way',
            ),
        ),
        'test_written_files.py': NotAClause(
            'closer looks at CON-PAR-14: what may be wrong with a file that a parameter names',
            (
                'test_a_file_that_is_no_text_is_refused',
                'test_places_that_become_a_pipe_keep_nobody_waiting',
                'test_the_home_of_nobody_is_named',
            ),
        ),
    }
)
"""Per file, the tests that show what no clause asks for, and why they are there."""
