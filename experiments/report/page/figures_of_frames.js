const PARTS = [
  "before its host began", "at its host", "waiting at the gate or for the device", "device at work on it",
  "device at work on others meanwhile", "done, until shown"
];
const worstClient = (scenario, values, clients) => {
  const worst = client =>
      Math.max(...scenario.settings.map((_, i) => values.mean(i, client, "frame_time_p99_ms")).filter(isFinite), 0);
  return Math.max(0, clients.indexOf([...clients].sort((a, b) => worst(b) - worst(a))[0]));
};

// Frame times of one client: how many are slower, on linear and on logarithmic axes.
function distributionFigure(scenario, values) {
  const clients = unique(scenario.distributions.map(d => d.client));
  if (!clients.length) return null;
  let chosen = worstClient(scenario, values, clients);
  const labels = scenario.settings.slice(0, scenario.detailed).map(s => s.label),
        shown = new Set(labels.map((_, i) => i).slice(0, 8));
  const p = contents.probabilities;
  let node = null;
  const draw = width => {
    const isWide = width > 700, gap = 20, panelWidth = isWide ? (width - gap) / 2 : width, h = 300;
    const series = scenario.distributions.filter(d => d.client === clients[chosen] && shown.has(d.setting))
                       .map(d => ({...d, ms: numbers(d.us).map(v => v / 1000)}));
    const parts = [];
    if (!series.length) return {height: 60, parts: [text(10, 30, "Every setting is switched off.", {class: "note"})]};
    const low = Math.max(0.1, Math.min(...series.map(s => s.ms[1]))),
          high = Math.max(...series.map(s => s.ms[s.ms.length - 1]));
    const least = 1 / Math.max(...series.map(s => s.frames));
    for (const kind of [0, 1]) {
      const x0 = isWide ? kind * (panelWidth + gap) : 0, y0 = isWide ? 0 : kind * (h + 10);
      const panel = {left: x0 + 64, right: x0 + panelWidth - 14, top: y0 + 26, bottom: y0 + h - 46};
      const x = high / low > 4 ? logarithmic(low / 1.1, high * 1.1, panel.left, panel.right) :
                                 linear(Math.min(low * 0.95, low - 1), high * 1.05, panel.left, panel.right);
      const y = kind === 0 ? linear(0, 100, panel.bottom, panel.top) :
                             logarithmic(Math.max(least, 1e-4) * 100, 100, panel.bottom, panel.top);
      parts.push(axes(panel, x, y, {
        xLabel: "frame time, ms",
        yLabel: kind === 0 ? "% of frames at most so long" : "% of frames longer (log)",
        yTick: v => number(v)
      }));
      parts.push(text(panel.left, y0 + 16, kind === 0 ? "All frames" : "The tail", {class: "name"}));
      for (const limit of [1000 / 60, 1000 / 30]) {
        if (limit < x.low || limit > x.high) continue;
        parts.push(
            line(x(limit), panel.top, x(limit), panel.bottom, {class: "limit"}),
            text(
                x(limit) + 5, kind === 0 ? panel.bottom - 6 : panel.top + 10, `${number(1000 / limit)} fps`,
                {class: "note"}));
      }
      for (const s of series) {
        const points = [];
        s.ms.forEach((ms, k) => {
          const share = kind === 0 ? p[k] * 100 : Math.max((1 - p[k]) * 100, y.low), px = x(Math.max(ms, x.low));
          if (points.length) points.push([px, points[points.length - 1][1]]);
          points.push([px, y(share)]);
        });
        // Equal curves stay visible: the later ones are narrower.
        parts.push(withTip(
            svg("path", {
              class: "curve",
              d: path(points),
              stroke: color(s.setting),
              "stroke-width": 1.8 + 0.9 * (series.length - 1 - series.indexOf(s)),
              "stroke-dasharray": dash(s.setting)
            }),
            `${labels[s.setting]}: median ${duration(s.ms[50])}, p99 ` +
                `${duration(s.ms[p.indexOf(0.99)])}, longest ${duration(s.ms[s.ms.length - 1])} of ` +
                `${s.frames} frames`,
            true));
      }
    }
    return {height: isWide ? h : 2 * h + 10, parts, label: `Distribution of frame times of ${clients[chosen]}`};
  };
  const controls = [
    choiceOfGame(clients, chosen, i => {
      chosen = i;
      node.redraw();
    }),
    legend(labels, shown, () => node.redraw())
  ];
  const at = (d, share) => duration(numbers(d.us)[p.findIndex(v => v >= share - 1e-9)] / 1000);
  const rows = scenario.distributions.map(
      d =>
          [{text: labels[d.setting]}, {text: d.client}, d.frames, at(d, 0.5), at(d, 0.9), at(d, 0.99), at(d, 0.999),
           at(d, 1)]);
  node = figure(
      "distribution", "How long frames take.",
      "Time from present to present over all seeds, behind the warm-up. Left: the share of " +
          "frames at most so long. Right: the share that is longer, by powers of ten, where " +
          "stutters show.",
      draw, {
        controls,
        table: table(
            [
              {name: "setting", isText: true}, {name: "client", isText: true}, {name: "frames"}, {name: "median"},
              {name: "p90"}, {name: "p99"}, {name: "p99.9"}, {name: "longest"}
            ],
            rows)
      });
  return node;
}

// Frame times of one run over time, a strip a setting.
function coursesFigure(scenario, values) {
  const clients = unique(scenario.courses.map(c => c.client));
  if (!clients.length) return null;
  let chosen = worstClient(scenario, values, clients), node = null;
  const draw = width => {
    const own = scenario.courses.filter(c => c.client === clients[chosen]).map(c => ({
                                                                                 ...c,
                                                                                 at: numbers(c.at_us).map(v => v / 1e6),
                                                                                 ms: numbers(c.us).map(v => v / 1000),
                                                                                 lost: numbers(c.missed)
                                                                               }));
    const labels = scenario.settings.map(s => s.label), room = nameRoom(own.map(c => labels[c.setting]), width),
          strip = 58, parts = [];
    const filled = own.filter(c => c.ms.length);
    const high = Math.max(...filled.map(c => Math.max(...c.ms)), 1),
          low = Math.max(0.5, Math.min(...filled.map(c => Math.min(...c.ms)), high));
    const end = Math.max(scenario.horizon_ms / 1000 || 0, ...filled.map(c => c.at[c.at.length - 1]));
    const x = linear(0, end, room + 44, width - 12), bottom = own.length * strip + 6;
    own.forEach((c, k) => {
      const panel = {left: room + 44, right: width - 12, top: k * strip + 8, bottom: (k + 1) * strip - 4};
      const y = high / low > 6 ? logarithmic(low / 1.3, high * 1.2, panel.bottom, panel.top) :
                                 linear(0, high * 1.1, panel.bottom, panel.top);
      const ticks =
          [1000 / 60, 1000 / 30, 100, 1000, 10000]
              .filter(v => v > y.low && v < y.high)
              .reduce((kept, v) => kept.length && y(kept[kept.length - 1]) - y(v) < 13 ? kept : [...kept, v], []);
      ticks.forEach(
          t => parts.push(
              line(panel.left, y(t), panel.right, y(t), {class: "grid"}),
              text(panel.left - 6, y(t) + 4, duration(t).replace(" ms", ""), {class: "tick", "text-anchor": "end"})));
      parts.push(line(panel.left, panel.bottom, panel.right, panel.bottom, {class: "grid"}));
      parts.push(text(
          room - 4, (panel.top + panel.bottom) / 2 + 4, fits(labels[c.setting], room),
          {"text-anchor": "end", class: "name"}));
      if (scenario.warmup_ms > 0)
        parts.push(svg("rect", {
          x: x(0),
          y: panel.top,
          width: x(scenario.warmup_ms / 1000) - x(0),
          height: panel.bottom - panel.top,
          class: "hold dim"
        }));
      parts.push(withTip(
          svg("path", {class: "thin", stroke: color(c.setting), d: path(c.ms.map((ms, i) => [x(c.at[i]), y(ms)]))}),
          `${labels[c.setting]}, seed ${c.seed}: longest ${duration(Math.max(0, ...c.ms))}, ` +
              `${c.lost.length} of the drawn frames missed`,
          true));
      c.lost.filter((_, i) => i % Math.ceil(c.lost.length / 200) === 0)
          .forEach(i => parts.push(svg("circle", {cx: x(c.at[i]), cy: y(c.ms[i]), r: 1.8, class: "late"})));
    });
    x.ticks(width / 90)
        .forEach(t => parts.push(text(x(t), bottom + 16, `${number(t)} s`, {class: "tick", "text-anchor": "middle"})));
    return {height: bottom + 26, parts};
  };
  const controls = choiceOfGame(clients, chosen, i => {
    chosen = i;
    node.redraw();
  });
  node = figure(
      "courses", "Frame times over time, in ms.",
      "For each setting the seed with the longest frame. Red dots are frames shown later " +
          "than one period after their start; grey is the warm-up. Of runs with many frames, " +
          "the longest of each stretch is drawn.",
      draw, {controls});
  return node;
}

// Where a frame's time goes: of all frames, and of the slowest hundredth.
function partsFigure(scenario, values) {
  const clients = unique(scenario.parts.map(d => d.client));
  if (!clients.length) return null;
  let chosen = worstClient(scenario, values, clients), node = null;
  const labels = scenario.settings.map(s => s.label);
  const draw = width => {
    const own = scenario.parts.filter(d => d.client === clients[chosen]),
          room = nameRoom(own.map(d => labels[d.setting]), width), parts = [];
    const isWide = width > 700, h = own.length * 24 + 76, step = isWide ? (width - room) / 2 : width - room;
    ["all", "slow"].forEach((kind, k) => {
      const left = room + (isWide ? k * step : 0), right = left + step - 16, top = (isWide ? 0 : k * h) + 24,
            bottom = top + own.length * 24;
      const totals = own.map(d => sum(numbers(d[kind])) / 1000),
            x = kind === "all" ? linear(0, Math.max(...totals, 0.001), left, right) : linear(0, 100, left, right - 56);
      parts.push(
          text(left, top - 8, kind === "all" ? "All frames" : "Slowest 1 %", {class: "name"}),
          axes({left, right: kind === "all" ? right : right - 56, top, bottom}, x, null, {
            xLabel: kind === "all" ? "ms of frame time, mean" : "% of their frame time, whose mean stands behind",
            xTicks: x.ticks(Math.max(2, (right - left) / 80))
          }));
      own.forEach((d, i) => {
        let at = 0;
        if (k === 0 || !isWide)
          parts.push(text(room - 8, top + i * 24 + 16, fits(labels[d.setting], room), {"text-anchor": "end"}));
        numbers(d[kind]).forEach((us, part) => {
          if (us <= 0) return;
          const ms = us / 1000, share = kind === "all" ? ms : ms / totals[i] * 100,
                bar = svg("rect", {
                  x: x(at),
                  y: top + i * 24 + 3,
                  width: Math.max(0.5, x(at + share) - x(at)),
                  height: 17,
                  class: `p${part}`
                });
          parts.push(withTip(
              bar,
              `${labels[d.setting]}, ${kind === "all" ? "all frames" : "slowest 1 %"}: ` +
                  `${duration(ms)} ${PARTS[part]}, of ${duration(totals[i])}`,
              true));
          at += share;
        });
        if (kind === "slow") parts.push(text(right - 50, top + i * 24 + 16, duration(totals[i]), {class: "tick"}));
      });
    });
    return {height: isWide ? h : 2 * h, parts};
  };
  const controls = [
    choiceOfGame(clients, chosen, i => {
      chosen = i;
      node.redraw();
    }),
    partsKey()
  ];
  const rows = scenario.parts.flatMap(
      d => ["all", "slow"].map(
          kind =>
              [{text: labels[d.setting]}, {text: d.client}, {text: kind === "all" ? "all" : "slowest 1 %"},
               ...numbers(d[kind]).map(us => duration(us / 1000))]));
  node = figure(
      "parts", "Where frame time goes.",
      "The time between two presents, by what the later frame was doing. Long waits are " +
          "the policy's or the device's; time on others is the device turning away between a " +
          "frame's begin and end.",
      draw, {
        controls,
        table: table(
            [
              {name: "setting", isText: true}, {name: "client", isText: true}, {name: "frames", isText: true},
              ...PARTS.map(name => ({name}))
            ],
            rows)
      });
  return node;
}
const partsKey = () => html(
    "div", {class: "legend"},
    PARTS.map(
        (name, i) => html(
            "span", {class: "choice"},
            svg("svg", {width: 14, height: 12, "aria-hidden": "true"},
                svg("rect", {x: 0, y: 1, width: 12, height: 10, class: `p${i}`})),
            ` ${name}`)));
