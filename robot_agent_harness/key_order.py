# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The order of keys, apart from what they hold: the journal's JSON has its keys sorted."""

from __future__ import annotations

from typing import Any


def key_order(value: Any) -> Any:
    """Return the keys of a value in their order, JSON-ready: a pair of key and the order below it
    for each, a list for a list, None for what has none.
    """
    if isinstance(value, dict):
        return [[str(key), key_order(held)] for key, held in value.items()]
    if isinstance(value, list):
        return [key_order(held) for held in value]
    return None


def in_order(value: Any, order: Any) -> Any:
    """Return a value with its keys in an order; those that the order lacks come last.

    :param order: what :func:`key_order` returned; None: as they are.
    """
    if isinstance(value, dict) and isinstance(order, list):
        below = {key: held for key, held in order if key in value}
        return {
            key: in_order(value[key], below.get(key))
            for key in [*below, *(key for key in value if key not in below)]
        }
    if isinstance(value, list) and isinstance(order, list) and len(value) == len(order):
        return [in_order(held, below) for held, below in zip(value, order, strict=True)]
    return value
