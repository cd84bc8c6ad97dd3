# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Close the loop between a language model and a robot."""

import pkgutil

# The generated messages (robot_agent_harness.msg) may lie in another folder than these modules.
__path__ = pkgutil.extend_path(__path__, __name__)

__version__ = '0.1.0'
