"""What each pass buys, as one page with plots: no script, nothing from the network."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from ..console import in_bytes, in_seconds

ROW, LEFT, WIDE, RIGHT = 20, 190, 420, 110
COLOURS = {"faster": "#2b7a3d", "slower": "#b3372f", "same": "#8a8f98"}
STYLE = """
body { font: 14px system-ui, sans-serif; margin: 2em auto; max-width: 60em; color: #222; }
table { border-collapse: collapse; font-size: 12px; }
td, th { padding: 2px 8px; text-align: right; border-bottom: 1px solid #ddd; }
td:nth-child(-n+2), th:nth-child(-n+2) { text-align: left; }
svg text { font: 12px system-ui, sans-serif; } figure { margin: 1em 0; }
"""


def page(record: dict[str, Any]) -> str:
    """Return the text of the page."""
    rows = [row for row in record["variants"] if "needed" not in row]
    needed = [row for row in record["variants"] if "needed" in row]
    without = [row for row in rows if row["kind"] == "without"]
    steps = [row for row in rows if row["kind"] == "up to"]
    title = f"What each pass buys: {record['model']}"
    processor = record["machine"]["processor"]
    parts = [
        f"<h1>{escape(title)}</h1>",
        f"<p>Pipeline {record['level']}, {record['threads']} threads, {escape(processor)}, "
        f"{escape(record['time'])}, {record['rounds']} rounds in turns.</p>",
        _figure("Without one pass: time, relative to the whole pipeline", _ratios(without)),
        _figure("With passes up to this one: time of a call", _bars(steps, "p50", in_seconds)),
        _figure("With passes up to this one: workspace", _bars(steps, "workspace_bytes", in_bytes)),
        _figure("With passes up to this one: code", _bars(steps, "code_bytes", in_bytes)),
        _figure("With passes up to this one: error", _bars(steps, "error", lambda e: f"{e:.1e}")),
        _table(rows),
        *(f"<p>{escape(row['pass'])} is needed: {escape(row['needed'])}</p>" for row in needed),
    ]
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}'
        f"</title><style>{STYLE}</style></head><body>\n" + "\n".join(parts) + "\n</body></html>"
    )


def _figure(caption: str, drawing: str) -> str:
    return f"<figure><figcaption>{escape(caption)}</figcaption>{drawing}</figure>"


def _svg(rows: Sequence[str], count: int) -> str:
    width, height = LEFT + WIDE + RIGHT, ROW * count + 8
    return (
        f'<svg width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img">'
        + "".join(rows) + "</svg>"
    )  # fmt: skip


def _label(text: str, x: float, y: float, anchor: str = "end") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _ratios(rows: Sequence[dict[str, Any]]) -> str:
    """Draw ratios with their intervals on a line through 1."""
    ends: list[float] = [end for row in rows for end in row["ratio_interval"]] or [1.0]
    low, high = min(0.95, *ends), max(1.05, *ends)

    def place(value: float) -> float:
        return LEFT + WIDE * (value - low) / (high - low)

    drawn = [
        f'<line x1="{place(1):.1f}" x2="{place(1):.1f}" y1="0" y2="{ROW * len(rows)}" '
        'stroke="#bbb"/>'
    ]
    for number, row in enumerate(rows):
        y = ROW * number + ROW / 2
        first, last = (place(end) for end in row["ratio_interval"])
        kind = "same"
        if row["significant"] and not row["same_code"]:
            kind = "faster" if row["ratio"] > 1 else "slower"
        colour = COLOURS[kind]
        drawn.append(_label(row["pass"], LEFT - 8, y + 4))
        drawn.append(
            f'<line x1="{first:.1f}" x2="{last:.1f}" y1="{y}" y2="{y}" stroke="{colour}" '
            f'stroke-width="2"/><circle cx="{place(row["ratio"]):.1f}" cy="{y}" r="4" '
            f'fill="{colour}"/>'
        )
        text = "same code" if row["same_code"] else f"{row['ratio']:.3f}"
        drawn.append(_label(text, LEFT + WIDE + 8, y + 4, "start"))
    return _svg(drawn, len(rows))


def _bars(rows: Sequence[dict[str, Any]], name: str, shown: Any) -> str:
    """Draw a bar for each row."""
    most = max((float(row[name]) for row in rows), default=0.0) or 1.0
    drawn = []
    for number, row in enumerate(rows):
        y = ROW * number
        wide = WIDE * float(row[name]) / most
        drawn.append(_label(row["pass"], LEFT - 8, y + 14))
        drawn.append(
            f'<rect x="{LEFT}" y="{y + 4}" width="{wide:.1f}" height="12" fill="#4a7fb5"/>'
        )
        drawn.append(_label(shown(row[name]), LEFT + wide + 6, y + 14, "start"))
    return _svg(drawn, len(rows))


def _table(rows: Sequence[dict[str, Any]]) -> str:
    head = ("", "pass", "time", "of all", "workspace", "weights", "code", "launches", "error")
    lines = ["<tr>" + "".join(f"<th>{name}</th>" for name in head) + "</tr>"]
    for row in rows:
        cells = [
            row["kind"], row["pass"], in_seconds(row["p50"]), f"{row['ratio']:.3f}",
            *(in_bytes(row[f"{each}_bytes"]) for each in ("workspace", "weights", "code")),
            str(row["launches"]), f"{row['error']:.1e}",
        ]  # fmt: skip
        lines.append("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>")
    return f"<table>{''.join(lines)}</table>"
