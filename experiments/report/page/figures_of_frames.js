const PARTS = [
  "before its host began", "at its host", "waiting at the gate or for the device", "device at work on it",
  "device at work on others meanwhile", "done, until shown"
];
const worstClient = (scenario, values, clients) => {
  const worst = client =>
      Math.max(...scenario.settings.map((_, i) => values.mean(i, client, "frame_time_p99_ms")).filter(isFinite), 0);
  return Math.max(0, clients.indexOf([...clients].sort((a, b) => worst(b) - worst(a))[0]));
};

// The curve of a setting's frame times `s`: a step a probability, at most so long or, in the tail, longer.
function distributionCurve(s, isTail, x, y) {
  const points = [];
  s.ms.forEach((ms, k) => {
    const p = contents.probabilities[k], px = x(Math.max(ms, x.low));
    if (points.length) points.push([px, points[points.length - 1][1]]);
    points.push([px, y(isTail ? Math.max((1 - p) * 100, y.low) : p * 100)]);
  });
  return path(points);
}

// One panel of the curves: the share of all frames on a linear axis, that of the tail on a logarithmic one.
function distributionPanel(series, labels, isTail, panel) {
  const low = Math.max(0.1, Math.min(...series.map(s => s.ms[1]))),
        high = Math.max(...series.map(s => s.ms[s.ms.length - 1])), least = 1 / Math.max(...series.map(s => s.frames));
  const x = high / low > 4 ? logarithmic(low / 1.1, high * 1.1, panel.left, panel.right) :
                             linear(Math.min(low * 0.95, low - 1), high * 1.05, panel.left, panel.right);
  const y = isTail ? logarithmic(Math.max(least, 1e-4) * 100, 100, panel.bottom, panel.top) :
                     linear(0, 100, panel.bottom, panel.top);
  const yLabel = isTail ? "% of frames longer (log)" : "% of frames at most so long";
  const parts = axes(panel, x, y, {xLabel: "frame time, ms", yLabel, yTick: v => number(v)});
  parts.push(text(panel.left, panel.top - 10, isTail ? "The tail" : "All frames", {class: "name"}));
  for (const limit of [1000 / 60, 1000 / 30].filter(ms => ms >= x.low && ms <= x.high))
    parts.push(
        line(x(limit), panel.top, x(limit), panel.bottom, {class: "limit"}),
        text(x(limit) + 5, isTail ? panel.top + 10 : panel.bottom - 6, `${number(1000 / limit)} fps`, {class: "note"}));
  series.forEach((s, place) => {
    const look = {
      stroke: color(s.look),
      "stroke-width":
          1.8 + 0.9 * (series.length - 1 - place),  // equal curves stay visible: the later ones are narrower
      "stroke-dasharray": dash(s.look)
    };
    parts.push(withTip(
        svg("path", {class: "curve", d: distributionCurve(s, isTail, x, y), ...look}),
        `${labels[s.setting]}: median ${duration(s.ms[50])}, p99 ` +
            `${duration(s.ms[contents.probabilities.indexOf(0.99)])}, longest ${duration(s.ms[s.ms.length - 1])} of ` +
            `${s.frames} frames`,
        true));
  });
  return parts;
}

// Both panels, next to each other where there is room.
function drawDistribution(series, labels, client, width) {
  if (!series.length) return {height: 60, parts: [text(10, 30, "Every setting is switched off.", {class: "note"})]};
  const isWide = width > 700, gap = 20, panelWidth = isWide ? (width - gap) / 2 : width, h = 300;
  const parts = [false, true].map(isTail => {
    const x0 = isWide && isTail ? panelWidth + gap : 0, y0 = !isWide && isTail ? h + 10 : 0;
    const panel = {left: x0 + 64, right: x0 + panelWidth - 14, top: y0 + 26, bottom: y0 + h - 46};
    return distributionPanel(series, labels, isTail, panel);
  });
  return {height: isWide ? h : 2 * h + 10, parts, label: `Distribution of frame times of ${client}`};
}

// Frame times of one client: how many are slower, on linear and on logarithmic axes.
function distributionFigure(scenario, values) {
  const clients = unique(scenario.distributions.map(d => d.client));
  if (!clients.length) return null;
  let chosen = worstClient(scenario, values, clients), node = null;
  const labels = scenario.settings.slice(0, scenario.detailed).map(s => s.label),
        shown = new Set(labels.map((_, i) => i).slice(0, 8));
  const draw = width => {
    const series = scenario.distributions.filter(d => d.client === clients[chosen] && shown.has(d.setting))
                       .map(d => ({...d, ms: numbers(d.us).map(v => v / 1000)}))
                       .map(d => ({...d, look: scenario.settings[d.setting].look}));
    return drawDistribution(series, labels, clients[chosen], width);
  };
  const controls = [
    choiceOfGame(
        clients, chosen,
        i => {
          chosen = i;
          node.redraw();
        }),
    legend(labels, scenario.settings.map(s => s.look), shown, () => node.redraw())
  ];
  const at = (d, share) => duration(numbers(d.us)[contents.probabilities.findIndex(v => v >= share - 1e-9)] / 1000);
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

// The frame times of one course over time, in a strip of its own.
function courseStrip(course, label, warmup, x, y, panel) {
  const ticks = [1000 / 60, 1000 / 30, 100, 1000, 10000]
                    .filter(v => v > y.low && v < y.high)
                    .reduce((kept, v) => kept.length && y(kept[kept.length - 1]) - y(v) < 13 ? kept : [...kept, v], []);
  const parts = ticks.map(
      t =>
          [line(panel.left, y(t), panel.right, y(t), {class: "grid"}),
           text(panel.left - 6, y(t) + 4, duration(t).replace(" ms", ""), {class: "tick", "text-anchor": "end"})]);
  parts.push(line(panel.left, panel.bottom, panel.right, panel.bottom, {class: "grid"}));
  if (warmup > 0)
    parts.push(svg(
        "rect", {x: x(0), y: panel.top, width: x(warmup) - x(0), height: panel.bottom - panel.top, class: "hold dim"}));
  parts.push(withTip(
      svg("path",
          {class: "thin", stroke: color(course.look), d: path(course.ms.map((ms, i) => [x(course.at[i]), y(ms)]))}),
      `${label}, seed ${course.seed}: longest ${duration(Math.max(0, ...course.ms))}, ` +
          `${course.lost.length} of the drawn frames missed`,
      true));
  const late = course.lost.filter((_, i) => i % Math.ceil(course.lost.length / 200) === 0);
  parts.push(...late.map(i => svg("circle", {cx: x(course.at[i]), cy: y(course.ms[i]), r: 1.8, class: "late"})));
  return parts;
}

function drawCourses(scenario, courses, width) {
  const own = courses.map(c => {
    const [at, ms, lost] = [numbers(c.at_us).map(v => v / 1e6), numbers(c.us).map(v => v / 1000), numbers(c.missed)];
    return {...c, look: scenario.settings[c.setting].look, at, ms, lost};
  });
  const labels = own.map(c => scenario.settings[c.setting].label), room = nameRoom(labels, width), strip = 58;
  const filled = own.filter(c => c.ms.length);
  const high = Math.max(...filled.map(c => Math.max(...c.ms)), 1),
        low = Math.max(0.5, Math.min(...filled.map(c => Math.min(...c.ms)), high));
  const end = Math.max(scenario.horizon_ms / 1000 || 0, ...filled.map(c => c.at[c.at.length - 1]));
  const x = linear(0, end, room + 44, width - 12), bottom = own.length * strip + 6;
  const parts = own.map((c, k) => {
    const panel = {left: room + 44, right: width - 12, top: k * strip + 8, bottom: (k + 1) * strip - 4};
    const y = high / low > 6 ? logarithmic(low / 1.3, high * 1.2, panel.bottom, panel.top) :
                               linear(0, high * 1.1, panel.bottom, panel.top);
    const middle = (panel.top + panel.bottom) / 2 + 4, name = fits(labels[k], room);
    return [
      courseStrip(c, labels[k], scenario.warmup_ms / 1000, x, y, panel),
      text(room - 4, middle, name, {"text-anchor": "end", class: "name"})
    ];
  });
  x.ticks(width / 90)
      .forEach(t => parts.push(text(x(t), bottom + 16, `${number(t)} s`, {class: "tick", "text-anchor": "middle"})));
  return {height: bottom + 26, parts};
}

// Frame times of one run over time, a strip a setting.
function coursesFigure(scenario, values) {
  const clients = unique(scenario.courses.map(c => c.client));
  if (!clients.length) return null;
  let chosen = worstClient(scenario, values, clients), node = null;
  const draw = width => drawCourses(scenario, scenario.courses.filter(c => c.client === clients[chosen]), width);
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

// The parts of the frame times `own`, a row each: of all frames in ms, of the slow ones in percent.
function partsPanel(own, names, isSlow, panel) {
  const {left, top} = panel, kind = isSlow ? "slow" : "all", right = isSlow ? panel.right - 56 : panel.right;
  const totals = own.map(d => sum(numbers(d[kind])) / 1000),
        x = linear(0, isSlow ? 100 : Math.max(...totals, 0.001), left, right);
  const parts = [
    text(left, top - 8, isSlow ? "Slowest 1 %" : "All frames", {class: "name"}), axes({...panel, right}, x, null, {
      xLabel: isSlow ? "% of their frame time, whose mean stands behind" : "ms of frame time, mean",
      xTicks: x.ticks(Math.max(2, (panel.right - left) / 80))
    })
  ];
  own.forEach((d, i) => {
    let at = 0;
    const y = top + i * 24;
    numbers(d[kind]).forEach((us, part) => {
      if (us <= 0) return;
      const ms = us / 1000, share = isSlow ? ms / totals[i] * 100 : ms;
      const bar = {x: x(at), y: y + 3, width: Math.max(0.5, x(at + share) - x(at)), height: 17, class: `p${part}`};
      parts.push(withTip(
          svg("rect", bar),
          `${names[i]}, ${isSlow ? "slowest 1 %" : "all frames"}: ` +
              `${duration(ms)} ${PARTS[part]}, of ${duration(totals[i])}`,
          true));
      at += share;
    });
    if (isSlow) parts.push(text(panel.right - 50, y + 16, duration(totals[i]), {class: "tick"}));
  });
  return parts;
}

// Both panels, next to each other where there is room; names stand to the left.
function drawParts(own, names, width) {
  const room = nameRoom(names, width), isWide = width > 700, h = own.length * 24 + 76,
        step = isWide ? (width - room) / 2 : width - room;
  const parts = [false, true].map(isSlow => {
    const left = room + (isWide && isSlow ? step : 0), top = (!isWide && isSlow ? h : 0) + 24;
    const named = isWide && isSlow ? [] : names;
    return [
      partsPanel(own, names, isSlow, {left, right: left + step - 16, top, bottom: top + own.length * 24}),
      named.map((name, i) => text(room - 8, top + i * 24 + 16, fits(name, room), {"text-anchor": "end"}))
    ];
  });
  return {height: isWide ? h : 2 * h, parts};
}

// Where a frame's time goes: of all frames, and of the slowest hundredth.
function partsFigure(scenario, values) {
  const clients = unique(scenario.parts.map(d => d.client));
  if (!clients.length) return null;
  let chosen = worstClient(scenario, values, clients), node = null;
  const labels = scenario.settings.map(s => s.label);
  const draw = width => {
    const own = scenario.parts.filter(d => d.client === clients[chosen]);
    return drawParts(own, own.map(d => labels[d.setting]), width);
  };
  const controls = [
    choiceOfGame(
        clients, chosen,
        i => {
          chosen = i;
          node.redraw();
        }),
    boxKey(PARTS.map((name, i) => [name, {class: `p${i}`}]))
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
