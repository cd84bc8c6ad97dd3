# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The parts of `scripts/setup_env.py`. Standard library only: nothing is installed yet."""
