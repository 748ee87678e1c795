const PARTS = [
  ["before its host began", "--c7"], ["at its host", "--c4"], ["waiting at the gate or for the device", "--c1"],
  ["device at work on it", "--c0"], ["device at work on others meanwhile", "--c3"], ["done, until shown", "--c2"]
];
const gamesOf = list => unique(list.map(d => d.client));
const worstClient = (scenario, values, clients) => {
  const worst = client =>
      Math.max(...scenario.settings.map((_, i) => values.mean(i, client, "frame_time_p99_ms")).filter(isFinite), 0);
  return Math.max(0, clients.indexOf([...clients].sort((a, b) => worst(b) - worst(a))[0]));
};
// The game that a figure shows, at first the one with the longest frames, and the control that chooses another; null
// where there is none.
function shownGame(scenario, values, rows, redraw) {
  const games = gamesOf(rows);
  if (!games.length) return null;
  let chosen = worstClient(scenario, values, games);
  const choose = i => {
    chosen = i;
    redraw();
  };
  return {name: () => games[chosen], control: choiceOfGame(games, chosen, choose)};
}
const millis = packed => numbers(packed).map(us => us / 1000);

// One panel of the curves of frame times: the share of all frames on a linear axis, that of the tail on a logarithmic
// one.
function distributionPanel(series, labels, isTail) {
  const low = Math.max(0.1, Math.min(...series.map(s => s.ms[1]))), high = Math.max(...series.map(s => s.ms.at(-1)));
  const least = Math.max(1 / Math.max(...series.map(s => s.frames)), 1e-4) * 100, isWide = high / low > 4;
  const share = p => isTail ? Math.max((1 - p) * 100, least) : p * 100;
  const yLabel = isTail ? "% of frames longer (log)" : "% of frames at most so long";
  const pointsOf = s => s.ms.map((ms, k) => ({x: Math.max(ms, low), y: share(contents.probabilities[k])}));
  const datasets = series.map((s, place) => ({
                                type: "line",
                                label: labels[s.setting],
                                data: pointsOf(s),
                                stepped: true,
                                borderColor: color(s.look),
                                borderDash: dash(s.look),
                                borderWidth: 1.8 + 0.9 * (series.length - 1 - place),  // equal curves stay visible
                                pointRadius: 0,
                                tip: p => `${labels[s.setting]}: ${number(p.y)} % ${isTail ? "above" : "up to"} ` +
                                    `${duration(p.x)}; ${counted(s.frames, "frame")}`
                              }));
  const ends = isWide ? {min: low / 1.1, max: high * 1.1} :
                        {min: Math.max(0, Math.min(low * 0.95, low - 1)), max: high * 1.05};
  return {
    title: isTail ? "The tail" : "All frames",
    height: 300,
    zoom: "xy",
    near: "xy",
    data: {
      datasets,
      lines: [1000 / 60, 1000 / 30].filter(ms => ms >= ends.min && ms <= ends.max).map(
          ms => ({at: ms, text: `${number(1000 / ms)} fps`}))
    },
    scales: {
      x: (isWide ? logarithmic : linear)("frame time, ms", ends),
      y: isTail ? logarithmic(yLabel, {min: least, max: 100}) : linear(yLabel, {min: 0, max: 100})
    }
  };
}

// Frame times of one client: how many are slower, on linear and on logarithmic axes.
function distributionFigure(scenario, values) {
  const game = shownGame(scenario, values, scenario.distributions, () => node.redraw());
  if (!game) return null;
  const settings = scenario.settings.slice(0, scenario.detailed), labels = settings.map(s => s.label);
  const shown = new Set(labels.map((_, i) => i).slice(0, 8));
  const entries = settings.map(s => ({name: s.label, look: s.look}));
  const panels = () => {
    node.legend = entries.filter((_, i) => shown.has(i));
    const series = scenario.distributions.filter(d => d.client === game.name() && shown.has(d.setting))
                       .map(d => ({...d, ms: millis(d.us), look: settings[d.setting].look}));
    return series.length ? [false, true].map(isTail => distributionPanel(series, labels, isTail)) : [];
  };
  const at = (d, share) => millis(d.us)[contents.probabilities.findIndex(v => v >= share - 1e-9)];
  const node = figure(
      "distribution", "How long frames take.",
      "Time from present to present over all seeds, behind the warm-up: the share of frames at most so long, and the " +
          "share that is longer, by powers of ten, where stutters show.",
      {
        panels,
        controls: [game.control, legend(entries, shown, () => node.redraw())],
        numbers: () => ({
          columns: [
            {name: "setting", isText: true}, {name: "client", isText: true}, {name: "frames"},
            ...["median", "p90", "p99", "p99.9", "longest"].map(name => ({name: `${name}, ms`}))
          ],
          rows: scenario.distributions.map(
              d => [labels[d.setting], d.client, d.frames, ...[0.5, 0.9, 0.99, 0.999, 1].map(share => at(d, share))])
        })
      });
  return node;
}

// The frame times of one course over time, in a strip of its own.
function courseStrip(scenario, course, end, isLast) {
  const {label, look} = scenario.settings[course.setting], at = numbers(course.at_us).map(us => us / 1e6);
  const ms = millis(course.us), data = ms.map((y, i) => ({x: at[i], y})), high = Math.max(...ms, 1);
  const isWide = high / Math.max(0.5, Math.min(...ms)) > 6;
  const missed = i => `missed: ${duration(ms[i])} at ${number(at[i])} s`;
  const late = numbers(course.missed).map(i => ({...data[i], look: 1, tip: missed(i)}));
  return {
    title: `${label}, seed ${course.seed}: longest ${duration(high)}, ${course.missed ? late.length : 0} missed`,
    height: isLast ? 150 : 118,
    zoom: "x",
    near: "x",
    isLinked: true,
    data: {
      datasets: [
        {
          ...marks(late, {pointRadius: 2.5, pointHitRadius: 2}),
          pointBackgroundColor: css("--bad"),
          pointBorderColor: css("--bad"),
          isSilent: true
        },
        {
          type: "line",
          data,
          borderColor: color(look),
          borderWidth: 1.2,
          pointRadius: 0,
          tip: p => `${label}: ${duration(p.y)} at ${number(p.x, 5)} s`
        }
      ],
      areas: scenario.warmup_ms > 0 ? [{from: 0, to: scenario.warmup_ms / 1000, fill: `${css("--hold")}55`}] : []
    },
    scales: {
      x: linear(isLast ? "seconds since the run began" : "", {min: 0, max: end}),
      y: isWide ? logarithmic("ms", evenly) : linear("ms", {min: 0, max: high * 1.1, ...evenly})
    }
  };
}

// Frame times of one run over time, a strip a setting.
function coursesFigure(scenario, values) {
  const game = shownGame(scenario, values, scenario.courses, () => node.redraw());
  if (!game) return null;
  const own = () => scenario.courses.filter(c => c.client === game.name() && c.us);
  const panels = () => {
    const end = Math.max(scenario.horizon_ms / 1000 || 0, ...own().map(c => numbers(c.at_us).at(-1) / 1e6));
    return own().map((course, i) => courseStrip(scenario, course, end, i === own().length - 1));
  };
  const node = figure(
      "courses", "Frame times over time, in ms.",
      "For each setting the seed with the longest frame. Red marks are frames shown later than one period after " +
          "their start; grey is the warm-up. Of runs with many frames, the longest of each stretch is drawn.",
      {
        panels,
        height: own().length * 122,
        controls: game.control,
        numbers: () => ({
          columns: [{name: "setting", isText: true}, {name: "client", isText: true}, {name: "at, s"}, {name: "ms"}],
          rows: scenario.courses.flatMap(c => {
            const at = numbers(c.at_us), ms = millis(c.us);
            return at.map((us, i) => [scenario.settings[c.setting].label, c.client, us / 1e6, ms[i]]);
          })
        })
      });
  return node;
}

// The rows of a stacked bar: parts of {name, fill, values: [one a row], tips}.
function stackPanel(title, names, parts, width, xLabel, most) {
  return {
    type: "bar",
    title,
    height: rowsHeight(names),
    zoom: "x",
    data: {
      datasets: parts.map(({name, fill, values, tips}) => ({
                            label: name,
                            data: values.map((x, y) => ({x, y, tip: tips[y]})),
                            backgroundColor: fill,
                            barThickness: 17
                          }))
    },
    scales: {x: linear(xLabel, {stacked: true, min: 0, max: most}), y: {...rows(names, width), stacked: true}}
  };
}

// Where a frame's time goes: of all frames, and of the slowest hundredth.
function partsFigure(scenario, values) {
  const game = shownGame(scenario, values, scenario.parts, () => node.redraw());
  if (!game) return null;
  const labels = scenario.settings.map(s => s.label);
  const panels = width => ["all", "slow"].map(kind => {
    const own = scenario.parts.filter(d => d.client === game.name()), times = own.map(d => millis(d[kind]));
    const names = own.map(d => labels[d.setting]), totals = times.map(sum);
    const ofAll = row => `, of ${duration(totals[row])}`;
    const unit = row => kind === "slow" ? totals[row] / 100 : 1;
    const parts = PARTS.map(([name, fill], i) => ({
                              name,
                              fill: css(fill),
                              values: times.map((ms, row) => ms[i] / unit(row) || 0),
                              tips: times.map((ms, row) => `${names[row]}: ${duration(ms[i])} ${name}${ofAll(row)}`)
                            }));
    if (kind === "all") return stackPanel("All frames", names, parts, width, "ms of frame time, mean");
    const slow = names.map((name, row) => `${name}: ${duration(totals[row])}`);
    return stackPanel("Slowest 1 %", slow, parts, width, "% of their frame time", 100);
  });
  const node = figure(
      "parts", "Where frame time goes.",
      "The time between two presents, by what the later frame was doing. Long waits are the policy's or the " +
          "device's; time on others is the device turning away between a frame's begin and end.",
      {
        panels,
        series: PARTS.map(([name, fill]) => ({name, fill: () => css(fill)})),
        controls: game.control,
        numbers: () => ({
          columns: [
            {name: "setting", isText: true}, {name: "client", isText: true}, {name: "frames", isText: true},
            ...PARTS.map(([name]) => ({name, show: duration}))
          ],
          rows: scenario.parts.flatMap(
              d => ["all", "slow"].map(
                  kind => [labels[d.setting], d.client, kind === "all" ? "all" : "slowest 1 %", ...millis(d[kind])]))
        })
      });
  return node;
}
