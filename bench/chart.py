# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""A line chart as SVG, drawn by a template as the mission report's charts are.

The places on the x axis are equally far apart, as rates and sizes are read that grow tenfold and
begin at zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jinja2 import Environment

from robot_agent_harness.report.map_chart import nice_step

WIDTH, HEIGHT = 720, 360
LEFT, RIGHT, TOP, BOTTOM = 64, 20, 56, 52
LINES = 6
ROOM = 1.08
"""How much higher the axis is than the highest value."""
COLOURS = ('#0b6bcb', '#b35c00', '#5a5a5a')
"""In this order; told apart also without colours, by their marks."""

_TEMPLATE = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {{ width }} {{ height }}" role="img"
     font-family="sans-serif" font-size="12" fill="#222">
<title>{{ title }}</title>
<rect width="{{ width }}" height="{{ height }}" fill="#fff"/>
<text x="{{ left }}" y="20" font-size="14" font-weight="bold">{{ title }}</text>
{% for line in levels -%}
<line x1="{{ left }}" x2="{{ right }}" y1="{{ line.at }}" y2="{{ line.at }}" stroke="#ddd"/>
<text x="{{ left - 8 }}" y="{{ line.at + 4 }}" text-anchor="end">{{ line.label }}</text>
{% endfor -%}
{% for place in places -%}
<text x="{{ place.at }}" y="{{ bottom + 18 }}" text-anchor="middle">{{ place.label }}</text>
{% endfor -%}
<text x="{{ (left + right) / 2 }}" y="{{ bottom + 40 }}" text-anchor="middle">{{ x_axis }}</text>
<text x="14" y="{{ (top + bottom) / 2 }}" text-anchor="middle"
      transform="rotate(-90 14 {{ (top + bottom) / 2 }})">{{ y_axis }}</text>
{% for line in lines -%}
<g stroke="{{ line.colour }}" fill="{{ line.colour }}">
<polyline points="{{ line.points }}" fill="none" stroke-width="2"/>
{% for mark in line.marks -%}
<line x1="{{ mark.x }}" x2="{{ mark.x }}" y1="{{ mark.low }}" y2="{{ mark.high }}"/>
{% if line.number == 0 -%}
<circle cx="{{ mark.x }}" cy="{{ mark.y }}" r="4"/>
{% elif line.number == 1 -%}
<rect x="{{ mark.x - 4 }}" y="{{ mark.y - 4 }}" width="8" height="8"/>
{% else -%}
<path d="M{{ mark.x }} {{ mark.y - 5 }} l5 9 h-10 z"/>
{% endif -%}
{% endfor -%}
<text x="{{ line.key }}" y="42" stroke="none">{{ '●■▲'[line.number] }} {{ line.name }}</text>
</g>
{% endfor -%}
</svg>
"""


@dataclass(frozen=True, slots=True)
class Series:
    """One line: at each place of the x axis a value, and the lowest and highest of its repeats."""

    name: str
    values: tuple[float, ...]
    spreads: tuple[tuple[float, float], ...]


def draw(
    title: str, *, x_axis: str, places: Sequence[str], y_axis: str, series: Sequence[Series]
) -> str:
    """Return the chart; the y axis begins at zero."""
    highest = max(high for one in series for _, high in one.spreads) * ROOM
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    step = nice_step(highest, LINES)

    def across(index: int) -> float:
        return round(LEFT + (index + 0.5) * (right - LEFT) / len(places), 1)

    def up(value: float) -> float:
        return round(bottom - value / highest * (bottom - TOP), 1)

    levels = [
        {'at': up(n * step), 'label': f'{n * step:g}'} for n in range(int(highest / step) + 1)
    ]
    lines = []
    for number, one in enumerate(series):
        marks = [
            {'x': across(index), 'y': up(value), 'low': up(low), 'high': up(high)}
            for index, (value, (low, high)) in enumerate(zip(one.values, one.spreads, strict=True))
        ]
        lines.append(
            {
                'number': number,
                'name': one.name,
                'colour': COLOURS[number],
                'key': LEFT + number * (right - LEFT) // len(series),
                'points': ' '.join(f'{mark["x"]},{mark["y"]}' for mark in marks),
                'marks': marks,
            }
        )
    return (
        Environment(autoescape=True, keep_trailing_newline=True)
        .from_string(_TEMPLATE)
        .render(
            title=title,
            width=WIDTH,
            height=HEIGHT,
            left=LEFT,
            right=right,
            top=TOP,
            bottom=bottom,
            x_axis=x_axis,
            y_axis=y_axis,
            levels=levels,
            places=[{'at': across(n), 'label': label} for n, label in enumerate(places)],
            lines=lines,
        )
    )
