"""How pages look: one column on a phone, light and dark, on paper. Charts take their colours from
here as well (`reports/svg.py`), so that they are readable in both schemes."""

from __future__ import annotations

from typing import Final

CSS: Final = """
:root{color-scheme:light dark;--paper:#fff;--ink:#1c2430;--soft:#51607a;--line:#d5dbe5;
--tint:#f4f6fa;--link:#1f5fbf;--good:#1c6b3a;--good-tint:#e6f4ea;--bad:#a3262a;--bad-tint:#fbe9e9;--warn:#7a4b00;
--warn-tint:#fdf1dc;--series-1:#3b6fb0;--series-2:#c8702a;--series-3:#a3262a;--series-4:#3d8b57;
--series-5:#7a57a8;--series-6:#6b7688}
@media (prefers-color-scheme:dark){:root{--paper:#14181f;--ink:#e7ebf2;--soft:#a9b4c6;
--line:#3a4454;--tint:#1d232d;--link:#8ab8ff;--good:#8bd6a4;--good-tint:#173324;--bad:#ff9c9c;--bad-tint:#3d1d20;
--warn:#f5c97a;--warn-tint:#3a2d14;--series-1:#7fb0ee;--series-2:#f0a35e;--series-3:#ff8c8c;
--series-4:#7fcf9a;--series-5:#c3a3f0;--series-6:#a9b4c6}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0 auto;padding:1rem 1rem 4rem;max-width:64rem;background:var(--paper);color:var(--ink);
font:1rem/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;
overflow-wrap:anywhere}
h1{font-size:1.75rem;line-height:1.2;margin:.6rem 0 .4rem}
h2{font-size:1.3rem;line-height:1.25;margin:2.6rem 0 .6rem;padding-top:.7rem;
border-top:1px solid var(--line)}
h3{font-size:1.05rem;margin:1.6rem 0 .4rem}
p,ul,dl{margin:.5rem 0}
p,li{max-width:46rem}
a{color:var(--link)}
.banner{display:inline-block;margin:0;padding:.15rem .7rem;border:1px solid currentColor;
border-radius:1rem;color:var(--warn);background:var(--warn-tint);font-size:.9rem;font-weight:600}
.lead{font-size:1.1rem}
nav ul{list-style:none;padding:0;display:flex;flex-wrap:wrap;gap:.2rem 1.1rem}
.box{padding:.6rem .9rem;border-left:4px solid var(--soft);background:var(--tint);max-width:none}
.box.warning{border-color:var(--warn);background:var(--warn-tint)}
.box.bad{border-color:var(--bad);background:var(--bad-tint)}
.box.good{border-color:var(--good);background:var(--good-tint)}
.badge{display:inline-block;padding:0 .5rem;border-radius:.6rem;font-size:.92em;font-weight:600;
color:var(--soft);background:var(--tint);border:1px solid currentColor;white-space:nowrap}
.badge.good{color:var(--good);background:var(--good-tint)}
.badge.bad{color:var(--bad);background:var(--bad-tint)}
.badge.warning{color:var(--warn);background:var(--warn-tint)}
.name{font-weight:600}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(9rem,1fr));gap:.6rem;margin:1rem 0}
.cards div{padding:.6rem .8rem;background:var(--tint);border-radius:.4rem}
dt{color:var(--soft);font-size:.85rem}
dd{margin:0;font-size:1.25rem;font-weight:600}
.scroll{overflow-x:auto;max-width:100%;margin:.7rem 0}
div.scroll{background:linear-gradient(to right,var(--paper) 40%,transparent) left/3rem 100% local,
linear-gradient(to left,var(--paper) 40%,transparent) right/3rem 100% local,
linear-gradient(to right,var(--line),transparent) left/.8rem 100% scroll,
linear-gradient(to left,var(--line),transparent) right/.8rem 100% scroll;
background-repeat:no-repeat}
table{border-collapse:collapse;font-size:.92rem;font-variant-numeric:tabular-nums}
caption{text-align:left;color:var(--soft);padding:.2rem 0}
th,td{text-align:left;vertical-align:top;padding:.35rem .7rem .35rem 0;
border-bottom:1px solid var(--line);unicode-bidi:isolate;min-width:3.5rem;max-width:26rem;
overflow-wrap:break-word}
thead th{color:var(--soft);font-weight:600;vertical-align:bottom}
tbody th{font-weight:600}
.n{text-align:right}
td.n,tbody th.n{white-space:nowrap}
td.n,th.n{padding-left:.5rem}
@media (max-width:40rem){table{width:max-content}th,td{max-width:15rem}}
details{margin:.4rem 0}
td details{margin:.1rem 0}
summary{cursor:pointer;color:var(--link)}
details[open]>summary{margin-bottom:.3rem}
.formula{margin:.2rem 0 .2rem .2rem;padding:.25rem .6rem;background:var(--tint);font-size:.92rem;
max-width:none}
code,pre{font:.92em/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
pre{background:var(--tint);padding:.6rem .8rem;border-radius:.4rem}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,27rem),1fr));
gap:1.2rem 2rem;align-items:start}
figure{margin:1rem 0;min-width:0}
figcaption{color:var(--soft);font-size:.92rem;margin-top:.3rem}
.chart{overflow-x:auto}
.chart svg{display:block;max-width:100%;height:auto}
footer{margin-top:3rem;padding-top:.8rem;border-top:1px solid var(--line);color:var(--soft);
font-size:.9rem}
:focus-visible{outline:3px solid var(--link);outline-offset:2px}
@media print{:root{color-scheme:light;--paper:#fff;--ink:#000;--soft:#444;--line:#bbb;
--tint:#f4f4f4;--link:#000;--good:#1c6b3a;--good-tint:#fff;--bad:#a3262a;--bad-tint:#fff;--warn:#7a4b00;
--warn-tint:#fff;--series-1:#3b6fb0;--series-2:#c8702a;--series-3:#a3262a;--series-4:#3d8b57;
--series-5:#7a57a8;--series-6:#6b7688}
html{font-size:9.5pt}body{max-width:none;padding:0}nav{display:none}
.scroll,.chart{overflow:visible}div.scroll{background:none}table{font-size:8pt;width:auto}
th,td{padding-right:.35rem;min-width:0}
h2,h3{break-after:avoid}figure,tr,.box{break-inside:avoid}
.figures{grid-template-columns:1fr 1fr}}
"""
