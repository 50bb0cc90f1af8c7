/** The pages' style: light and dark by the reader's setting, readable on a phone, sparing with ink on paper. */
export const PAGE_STYLE = `
:root{color-scheme:light dark;--bg:#fbfcfd;--card:#fff;--ink:#16202a;--soft:#4d5b68;--line:#d5dde4;--accent:#0b62a8;--bar:#1f6fb2;--bar2:#6797c4;--shade:#16202a40;
--good:#176b3a;--warn:#8a5300;--bad:#a51f1f;--goodbg:#e3f4e9;--warnbg:#fdf0da;--badbg:#fbe5e5}
@media (prefers-color-scheme:dark){:root{--bg:#11171d;--card:#182029;--ink:#e6ecf1;--soft:#a3b1bd;--line:#33404c;--accent:#7cbcf2;--bar:#5fabea;--bar2:#4479a6;--shade:#000c;
--good:#7fd6a0;--warn:#f0bd6b;--bad:#ff9d9d;--goodbg:#163524;--warnbg:#3a2b10;--badbg:#431c1c}}
*{box-sizing:border-box}
html{font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",sans-serif;background:var(--bg);color:var(--ink)}
body{margin:0}
main,header,nav,footer{max-width:72rem;margin:0 auto;padding:0 1rem}
header{padding-top:1.5rem}
h1{font-size:1.5rem;line-height:1.25;margin:.25rem 0;overflow-wrap:anywhere}
h2{font-size:1.15rem;margin:0 0 .75rem}
h3{font-size:1rem;margin:1.25rem 0 .5rem}
p{margin:.4rem 0}
a{color:var(--accent)}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px;border-radius:3px}
.skip{position:absolute;left:-99rem}.skip:focus{left:1rem;top:.5rem;background:var(--card);padding:.3rem .6rem;z-index:1}
nav ul{display:flex;flex-wrap:wrap;gap:.25rem 1rem;padding:0;margin:.75rem 0;list-style:none;font-size:.95rem}
section{background:var(--card);border:1px solid var(--line);border-radius:.6rem;padding:1rem 1.1rem;margin:0 0 1rem}
.soft{color:var(--soft)}.small{font-size:.875rem}
.name{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.875em;overflow-wrap:anywhere;unicode-bidi:isolate}
.badge{display:inline-block;border-radius:.35rem;padding:.1rem .6rem;font-weight:650;letter-spacing:.02em}
.good{background:var(--goodbg);color:var(--good)}.warn{background:var(--warnbg);color:var(--warn)}.bad{background:var(--badbg);color:var(--bad)}
.note{border-left:4px solid var(--line);padding:.5rem .8rem;margin:.75rem 0;overflow-wrap:anywhere}
.note.bad{border-color:var(--bad)}.note.warn{border-color:var(--warn)}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr));gap:.75rem;margin:0 0 1rem;padding:0;list-style:none}
.tiles li{background:var(--card);border:1px solid var(--line);border-radius:.6rem;padding:.7rem .9rem}
.tiles b{display:block;font-size:1.35rem;line-height:1.2;font-variant-numeric:tabular-nums}
.columns{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,26rem),1fr));gap:0 2rem}
.scroll{overflow-x:auto;background:linear-gradient(to right,var(--card) 30%,transparent) left/2.5rem 100% local no-repeat,
linear-gradient(to left,var(--card) 30%,transparent) right/2.5rem 100% local no-repeat,
linear-gradient(to right,var(--shade),transparent) left/.7rem 100% scroll no-repeat,
linear-gradient(to left,var(--shade),transparent) right/.7rem 100% scroll no-repeat}
table{border-collapse:collapse;width:100%;font-size:.925rem}
caption{text-align:left;color:var(--soft);font-size:.875rem;padding-bottom:.3rem}
th,td{text-align:left;padding:.3rem .6rem .3rem 0;border-bottom:1px solid var(--line);vertical-align:top}
th{font-weight:600}thead th{color:var(--soft);font-size:.825rem}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
td.bar{width:32%;min-width:5rem;vertical-align:middle}
td.bar svg{display:block;width:100%;height:.7rem}
.b1{fill:var(--bar)}.b2{fill:var(--bar2)}.axis{stroke:var(--line)}.tick{fill:var(--soft);font-size:13px}
.chart{width:100%;max-width:44rem;height:auto;display:block}
details{margin:.15rem 0}details details{margin-left:1.1rem}
summary{cursor:pointer;padding:.15rem 0;overflow-wrap:anywhere}
.leaf{margin:.15rem 0 .15rem 1.1rem;padding:.15rem 0;overflow-wrap:anywhere}
.sum{color:var(--soft);font-size:.875rem;font-variant-numeric:tabular-nums;white-space:nowrap}
.search{display:flex;flex-wrap:wrap;gap:.5rem 1rem;align-items:center;margin:.5rem 0}
.search[hidden]{display:none}
input[type=search]{font:inherit;color:inherit;background:var(--bg);border:1px solid var(--soft);border-radius:.4rem;padding:.35rem .6rem;width:min(100%,26rem)}
.tall{max-height:32rem;overflow:auto}
.tall thead th{position:sticky;top:0;background:var(--card)}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.25rem 1.2rem;margin:0}
dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}
figure{margin:0}
ul.plain{margin:.3rem 0;padding-left:1.2rem}
footer{padding-bottom:2rem;color:var(--soft);font-size:.875rem}
#sample td:first-child,#sample th:first-child{min-width:15rem}
.wide{min-width:44rem}.wide td.bar{width:18%}
.paper{display:none}
tbody.group>tr:first-child>*{border-bottom:0}tbody.group .more{padding-top:0}.more details{position:sticky;left:0;max-width:calc(100vw - 4.4rem)}
#tables th[scope=row] .name{font-size:.925em}
@media (max-width:34rem){.chart{min-width:32rem}dl{grid-template-columns:1fr}dt{margin-top:.4rem}section{padding:.8rem}td.bar{min-width:3.5rem;width:22%}.wide td.bar{display:none}#tables th[scope=row]{min-width:11rem}th,td{padding-right:.4rem}}
@media print{:root{--bg:#fff;--card:#fff;--ink:#000;--soft:#333;--line:#bbb}nav,.skip,.search{display:none}section,.tiles li{break-inside:avoid;border-color:#bbb}
.scroll,.tall{max-height:none;overflow:visible;background:none}.wide,#sample td:first-child,#sample th:first-child{min-width:0}tr{break-inside:avoid}tbody.group tr{break-inside:auto}.wide td.bar{display:none}.more details{max-width:none}
#sample tbody tr:nth-child(n+51){display:none}.paper{display:block}
.tall thead th{position:static}section.long{break-inside:auto}a{color:inherit}}
`;
