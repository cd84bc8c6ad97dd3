# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Python's logging into the node's logger: the core knows no ROS, and a robot has one log."""

from __future__ import annotations

import logging
from typing import Any

from robot_agent_harness.redaction import RedactingFilter, shared_redactor
from robot_agent_harness.ros.log_flood import LibraryFlood

PACKAGE_LOGGER = 'robot_agent_harness'


class RosLogHandler(logging.Handler):
    """Passes records on to rclpy; its levels are numbered as Python's."""

    def __init__(self, ros_logger: Any) -> None:
        super().__init__()
        self._ros = ros_logger

    def emit(self, record: logging.LogRecord) -> None:
        """Log one record."""
        try:
            text = self.format(record)
            # Each on a line of its own: rclpy ties a level to the line that logs.
            if record.levelno >= logging.CRITICAL:
                self._ros.fatal(text)
            elif record.levelno >= logging.ERROR:
                self._ros.error(text)
            elif record.levelno >= logging.WARNING:
                self._ros.warning(text)
            elif record.levelno >= logging.INFO:
                self._ros.info(text)
            else:
                self._ros.debug(text)
        except Exception:
            # Logging must not end what it tells of.
            self.handleError(record)


def bridge_logging(ros_logger: Any) -> logging.Handler:
    """Send the package's records at the node's level, and warnings of libraries, to its logger."""
    handler = RosLogHandler(ros_logger)
    handler.setFormatter(logging.Formatter('%(message)s'))
    handler.addFilter(RedactingFilter(shared_redactor()))  # what libraries say, too
    handler.addFilter(LibraryFlood())
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.WARNING)
    logging.getLogger(PACKAGE_LOGGER).setLevel(int(ros_logger.get_effective_level()))
    return handler
