"""Stylesheet of all pages: light and dark from the same variables."""

from __future__ import annotations

from typing import Final

__all__ = ["CSS"]

CSS: Final = """\
:root { color-scheme: light dark; --paper: #ffffff; --ink: #1b1f24; --quiet: #57606a; --line: #d0d7de; --tint: #f6f8fa;
  --accent: #0b5cad; }
@media (prefers-color-scheme: dark) { :root { --paper: #14181d; --ink: #e6e9ec; --quiet: #a3acb6; --line: #3a424b;
  --tint: #1d232a; --accent: #79b8ff; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.55 system-ui, sans-serif; }
header, main, footer { max-width: 64rem; margin: 0 auto; padding: 16px; }
h1 { font-size: 32px; line-height: 1.2; margin: 16px 0 8px; }
h2 { font-size: 24px; margin: 40px 0 8px; }
h3 { font-size: 15px; margin: 16px 0 0; }
p { max-width: 75ch; margin: 8px 0; }
a { color: var(--accent); }
a:focus-visible, summary:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.skip { position: absolute; left: -100vw; }
.skip:focus { left: 16px; top: 8px; background: var(--paper); padding: 8px; }
nav ul { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: 8px 16px; }
code { font: 13px/1.5 ui-monospace, monospace; overflow-wrap: anywhere; }
details { border-top: 1px solid var(--line); }
summary { padding: 8px 0; cursor: pointer; display: flex; gap: 8px; flex-wrap: wrap; align-items: baseline; }
summary::before { content: "+"; font: 600 13px/1.5 ui-monospace, monospace; color: var(--quiet); }
details[open] > summary::before { content: "\\2212"; }
summary b { min-width: 4.5em; font: 600 13px/1.5 ui-monospace, monospace; }
summary span { color: var(--quiet); }
.box { overflow-x: auto; background: var(--tint); padding: 0 16px 8px; margin-bottom: 16px; }
table { border-collapse: collapse; width: 100%; font-size: 13px; }
caption { text-align: left; font-weight: 600; padding: 16px 0 4px; }
th, td { text-align: left; vertical-align: top; padding: 4px 16px 4px 0; border-top: 1px solid var(--line); }
@media print { details { break-inside: avoid; } }
"""
