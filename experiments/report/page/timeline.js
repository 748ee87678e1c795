// What every client did, half a second at a time, and why frames were late. Times are milliseconds of the run.
const MOST_WENT = [
  "before the frame's host began: the game itself, or waiting for the frame before", "by at its host", "by waiting",
  "into the frame's own work on the device", "to others on the device",
  "by between the end of its work and the present"
];
const WINDOW_MS = 500;

function why(label, run, frame) {
  const parts = millis(frame.parts), longest = parts.indexOf(Math.max(...parts));
  const said = parts.map((ms, i) => [ms, i])
                   .filter(([ms]) => ms >= 0.01 * frame.us / 1000)
                   .map(([ms, i]) => `${duration(ms)} ${PARTS[i][0]}`);
  const words = `Under ${label} (seed ${run.seed}), ${frame.client} showed frame ${frame.number} at ` +
      `${duration(frame.present_us / 1000)}, ${duration(frame.us / 1000)} after the one before: ` +
      `${said.join("; ")}. Most of it went ${MOST_WENT[longest]}.`;
  if (frame.rule)
    return `${words} Meanwhile its gate was closed for ${duration(frame.held_us / 1000)} by the rule “${frame.rule}”.`;
  if (!frame.is_recorded)
    return `${words} What was decided then was not recorded (raise decisions in record: to see more).`;
  return `${words} Its gate held nothing back meanwhile.`;
}

// The packed rows of a lane, `width` numbers each, the first told from that of the row before: read once.
function unpacked(packed, width) {
  const all = numbers(packed), out = [];
  for (let i = 0, at = 0; i < all.length; i += width) out.push([at += all[i], ...all.slice(i + 1, i + width)]);
  return out;
}
// Bars of a run: {lane, from, to, kind, client (a place), tip}.
function barsOf(timeline) {
  const bars = [], lanes = [];
  timeline.lanes.forEach(({client, frames, operations, holds, decisions}, place) => {
    const lane = what => {
      const name = `${client}: ${what}`;
      if (!lanes.includes(name)) lanes.push(name);
      return lanes.indexOf(name);
    };
    const add = (what, kind, from, to, tip) => bars.push({lane: lane(what), from, to, kind, place, client, tip});
    for (const row of unpacked(frames, 5)) {
      const start = row[0] / 1000, [begin, end, present] = row.slice(1, 4).map(us => start + us / 1000);
      const shown = `frame ${row[4]}: ${duration(present - start)} from its start to its present`;
      add("frames", "frame", start, present, shown);
      if (end > begin)
        add("device", "work", begin, end, `frame ${row[4]}: ${duration(end - begin)} from begin to end of its work`);
    }
    const names = ([at, length, count, name]) =>
        count === 1 ? timeline.names[name] : `${count} within, longest: ${timeline.names[name]}`;
    const kinds = [["device", "work", operations], ["held", "hold", holds], ["decided", "tick", decisions]];
    for (const [what, kind, packed] of kinds)
      for (const row of unpacked(packed, 4))
        add(what, kind, row[0] / 1000, (row[0] + row[1]) / 1000,
            `${names(row)}${kind === "tick" ? "" : `, ${duration(row[1] / 1000)}`}`);
  });
  return {bars, lanes};
}

const looksOfBars = () => ({
  frame: {backgroundColor: "#0000", borderColor: css("--soft"), borderWidth: 1, barThickness: 14, borderSkipped: false},
  work: {barThickness: 14},
  hold: {backgroundColor: css("--hold"), barThickness: 10},
  tick: {barThickness: 10}
});
function datasetsOf({bars}, low, high) {
  const seen = bars.filter(bar => bar.to >= low && bar.from <= high), looks = looksOfBars();
  const data = bar => ({x: [bar.from, bar.to], y: bar.lane, tip: `${bar.client}, ${duration(bar.from)}: ${bar.tip}`});
  return unique(seen.map(bar => `${bar.kind} ${bar.place}`)).sort().map(name => {
    const own = seen.filter(bar => `${bar.kind} ${bar.place}` === name);
    return {
      grouped: false,
      minBarLength: 1.5,
      backgroundColor: clientColor(own[0].place),
      ...looks[own[0].kind],
      data: own.map(data)
    };
  });
}

function timelinePanel(timeline, read, view, width, onRange) {
  const end = timeline.end_us / 1000;
  return {
    type: "bar",
    height: read.lanes.length * 24 + 64,
    zoom: "x",
    drag: "pan",
    bounds: {x: [timeline.begin_us / 1000, end]},
    onRange: (chart, low, high) => {
      chart.data.datasets = datasetsOf(read, low, high);
      onRange(low, high);
    },
    data: {
      datasets: datasetsOf(read, view.low, view.high),
      areas: view.late ? [{from: view.late[0], to: view.late[1], fill: `${css("--accent")}26`}] : []
    },
    scales: {
      x: linear("seconds since the run began", {
        min: view.low,
        max: view.high,
        ticks: {callback: ms => number(ms / 1000, 6), maxRotation: 0, maxTicksLimit: Math.max(4, width / 90)}
      }),
      y: rows(read.lanes, width)
    }
  };
}

// What a timeline leaves out.
function aboutTimeline(timeline, label) {
  const [low, high, whole] = [timeline.begin_us, timeline.end_us, timeline.horizon_us].map(us => us / 1000);
  const here = `${duration(low)} to ${duration(high)}`;
  const part = high - low < whole ? ` Of ${duration(whole)}, ${here} are in this page.` : "";
  const operations = timeline.has_operations ? "" : " Operations were not recorded (record: { operations: all }).";
  return `Under ${label} (seed ${timeline.seed}).${part}${operations}`;
}

// What a timeline figure shows now: a setting's timeline, what was read of it, and a stretch of it (`low` to `high`),
// with that of a frame time, if one was asked for (`late`).
class TimelineView {
  constructor(scenario, redraw) {
    Object.assign(this, {scenario, redraw});
    this.buttons = html("div", {class: "controls frames", role: "group", "aria-label": "Late frames"});
    this.words = html("p", {class: "why", "aria-live": "polite"});
    const slide = () => this.look(Number(this.instant.value), this.late);
    this.instant = html("input", {type: "range", step: "any", "aria-label": "Instant", oninput: slide});
  }
  label() { return this.scenario.settings[this.timeline.setting].label; }
  run(timeline = this.timeline) { return this.scenario.late.find(run => run.setting === timeline.setting); }

  choose(timeline) {
    Object.assign(this, {timeline, ...barsOf(timeline)});
    this.ends = [timeline.begin_us / 1000, timeline.end_us / 1000];
    const [low, high] = this.ends, frames = this.run()?.frames || [];
    this.buttons.replaceChildren(...frames.map((frame, i) => {
      const rule = frame.rule ? `, ${frame.rule}` : "", words = `${frame.client} #${frame.number}: `;
      const show = () => this.show(i);
      return html("button", {type: "button", onclick: show}, `${words}${duration(frame.us / 1000)}${rule}`);
    }));
    Object.assign(this.instant, {min: low, max: Math.max(low, high - WINDOW_MS)});
    if (frames.length) return this.show(0);
    this.words.textContent = aboutTimeline(timeline, this.label());
    this.look((low + high - WINDOW_MS) / 2);
  }
  look(low, late = null, length = WINDOW_MS) {
    const [least, most] = this.ends, begin = Math.max(least, Math.min(low, most - length));
    Object.assign(this, {low: begin, high: Math.min(most, begin + length), late});
    this.instant.value = begin;
    this.redraw();
  }
  show(i) {
    const run = this.run(), frame = run.frames[i], end = frame.present_us / 1000, ms = frame.us / 1000;
    [...this.buttons.children].forEach((button, k) => button.setAttribute("aria-pressed", k === i ? "true" : "false"));
    this.words.textContent = why(this.label(), run, frame);
    const length = Math.min(WINDOW_MS, Math.max(150, 6 * ms));
    this.look(end - ms / 2 - length / 2, [end - ms, end], length);
  }
  panel(width) {
    const follow = (low, high) => {
      Object.assign(this, {low, high});
      this.instant.value = low;
    };
    return timelinePanel(this.timeline, this, this, width, follow);
  }
  seen() { return this.bars.filter(bar => bar.to >= this.low && bar.from <= this.high); }
}

function timelineFigure(scenario) {
  const all = scenario.timelines, view = new TimelineView(scenario, () => node?.redraw());
  if (!all.length) return null;
  const longest = timeline => Math.max(0, ...(view.run(timeline)?.frames || []).map(frame => frame.us));
  const first = [...all].sort((a, b) => longest(b) - longest(a))[0];
  let node = null;
  view.choose(first);
  const names = all.map(timeline => scenario.settings[timeline.setting].label);
  const setting = choice("setting", names, all.indexOf(first), i => view.choose(all[i]));
  const instant = html("label", {class: "choice instant"}, "instant ", view.instant);
  node = figure(
      "timeline", "Half a second, and why frames were late.",
      "Outlines: frames from their start to their present. Bars: work on the device. Grey: held at the gate. " +
          `Ticks: decisions. What is less than ${duration(0.1)} apart is drawn as one; simcli view shows each.`,
      {
        panels: width => [view.panel(width)],
        controls: [html("div", {class: "controls"}, setting, instant), view.buttons, view.words],
        height: 260,
        numbers: () => ({
          columns: [{name: "lane", isText: true}, {name: "from, ms"}, {name: "to, ms"}, {name: "what", isText: true}],
          rows: view.seen().map(bar => [view.lanes[bar.lane], bar.from, bar.to, bar.tip])
        })
      });
  return node;
}
