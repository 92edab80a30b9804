"""The style sheet of the HTML report."""

#: Inlined, so that the report is one file. Series have Okabe and Ito's colours, which colour-blind
#: readers can tell apart, lighter ones on a dark screen.
STYLE = """
:root { color-scheme: light dark; --paper: #fff; --ink: #1b1f24; --soft: #59636e; --line: #d8dde3;
  --tint: #e8f3ec; --code: #f3f5f7; --blind: #777; --baseline: #b8578a; --Bayes: #0072b2;
  --SOSR: #d55e00; --good: #1a7f4b; --bad: #b3261e; --open: #7a5c00; }
@media (prefers-color-scheme: dark) { :root { --paper: #14171a; --ink: #e8eaed; --soft: #a3adb8;
  --line: #363d45; --tint: #1d3327; --code: #20252a; --blind: #b0b0b0; --baseline: #e39bc3;
  --Bayes: #56b4e9; --SOSR: #f08a3c; --good: #5fcf92; --bad: #ff8a80; --open: #e6c15c; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 84rem; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: .5rem 0; }
h2 { font-size: 1.25rem; margin: 2.5rem 0 .5rem; }
h3 { font-size: 1.05rem; margin: 1.5rem 0 .25rem; }
p, li { max-width: 46rem; }
p { margin: .5rem 0; }
ul { padding-left: 1.2rem; }
li { margin: .3rem 0; }
nav { display: flex; flex-wrap: wrap; gap: .25rem 1.1rem; margin: .75rem 0; }
a { color: var(--Bayes); }
nav a { padding: .3rem 0; }
.scroll { overflow-x: auto; margin: .5rem 0; border: 1px solid var(--line); border-radius: 6px; }
table { border-collapse: collapse; font-size: .94rem; width: 100%; }
th, td { padding: .4rem .6rem; text-align: left; vertical-align: top;
  border-bottom: 1px solid var(--line); }
tbody:last-child tr:last-child > * { border-bottom: 0; }
thead th { font-weight: 600; vertical-align: bottom; }
.costs th, .costs td, .number { white-space: nowrap; font-variant-numeric: tabular-nums; }
.costs thead th { white-space: normal; min-width: 7.4rem; }
.costs thead small, .costs td small { display: block; color: var(--soft); font-weight: 400;
  font-size: .85rem; }
.costs td small b { font-weight: 700; }
.costs th:first-child { position: sticky; left: 0; background: var(--paper); font-weight: 500;
  box-shadow: inset -1px 0 var(--line); min-width: 0; }
.costs tbody th.group { position: static; font-weight: 600; color: var(--soft); box-shadow: none;
  padding-top: .9rem; }
.costs th.group span { position: sticky; left: .6rem; }
.costs td.best { background: var(--tint); font-weight: 700; }
.grid { display: grid; gap: 1rem 1.5rem;
  grid-template-columns: repeat(auto-fill, minmax(min(100%, 20rem), 1fr)); }
figure { margin: 0; }
figcaption { font-weight: 600; margin-bottom: .2rem; }
figcaption small { font-weight: 400; color: var(--soft); font-size: .85rem; }
svg { display: block; width: 100%; max-width: 30rem; height: auto; overflow: visible; }
svg text { font-size: 12.5px; fill: var(--ink); }
svg .bold { font-weight: 700; }
.grid line.grid { stroke: var(--line); }
.stem { stroke-width: 2; opacity: .45; }
circle.blind { fill: var(--blind); } .stem.blind { stroke: var(--blind); }
circle.baseline { fill: var(--baseline); } .stem.baseline { stroke: var(--baseline); }
circle.Bayes { fill: var(--Bayes); } .stem.Bayes { stroke: var(--Bayes); }
circle.SOSR { fill: var(--SOSR); } .stem.SOSR { stroke: var(--SOSR); }
.paper { fill: var(--paper); fill-opacity: .6; stroke: var(--ink); stroke-width: 1.3; }
.band { fill: var(--SOSR); opacity: .2; }
.curve { fill: none; stroke: var(--SOSR); stroke-width: 2; }
.ring { fill: none; stroke: var(--ink); stroke-width: 1.5; }
.legend { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; padding: 0; list-style: none; }
.legend svg { display: inline-block; width: 14px; height: 14px; margin-right: .35rem;
  vertical-align: -2px; }
.claim { border-left: 4px solid var(--line); padding: .1rem 0 .1rem .8rem; margin: .7rem 0; }
.claim p { margin: .2rem 0; }
.verdict { font-weight: 700; }
.supported { border-color: var(--good); } .supported .verdict { color: var(--good); }
.not-supported { border-color: var(--bad); } .not-supported .verdict { color: var(--bad); }
.mixed { border-color: var(--open); } .mixed .verdict { color: var(--open); }
summary { cursor: pointer; color: var(--Bayes); padding: .35rem 0; }
code { background: var(--code); padding: .1rem .3rem; border-radius: 4px; font-size: .9rem;
  overflow-wrap: anywhere; }
@media (max-width: 40rem) { th, td { padding: .35rem .45rem; } .costs { font-size: .88rem; } }
dl { margin: .5rem 0 1.2rem; } dt { color: var(--soft); font-size: .9rem; }
dd { margin: 0 0 .5rem; overflow-wrap: anywhere; max-width: 60rem; }
"""
