// What the device spent its time on under a setting, as drawn parts of the elapsed time. Clients that run at the same
// time get equal parts of the time that the device was busy.
function deviceParts(values, clients, setting) {
  const busy = name => values.mean(setting, name, "gpu_busy_ratio");
  const own = clients.map((name, k) => ({name, share: busy(name), fill: clientColor(k)}))
                  .filter(part => part.share > 0);
  const device = busy("device"), others = sum(own.map(part => part.share));
  const scale = others > device && device > 0 ? device / others : 1;
  const more = [["changing contexts", "switch_ratio", "--c7"], ["stalled on paged memory", "paging_ratio", "--bad"]];
  return [
    ...own.map(part => ({...part, drawn: part.share * scale})),
    ...more.map(([name, metric, fill]) => {
      const share = values.mean(setting, "device", metric) || 0;
      return {name, share, drawn: share, fill: css(fill)};
    })
  ].filter(part => part.drawn > 0.0005);
}

// A bar a setting.
const MOST_BARS = 40;
function deviceFigure(scenario, values) {
  const clients = scenario.clients.filter(isClient), labels = scenario.settings.map(s => s.label);
  const all = labels.map((_, i) => i).filter(i => values.get(i, "device", "gpu_busy_ratio"));
  if (!all.length) return null;
  const partsOf = i => deviceParts(values, clients, i), shown = all.slice(0, MOST_BARS);
  const names = unique(shown.flatMap(partsOf).map(part => part.name));
  const part = (i, name) => partsOf(i).find(p => p.name === name);
  const fillOf = name => () => shown.map(i => part(i, name)).find(Boolean).fill;
  const panels = width => [stackPanel(
      "", shown.map(i => labels[i]),
      names.map(name => ({
                  name,
                  fill: fillOf(name)(),
                  values: shown.map(i => 100 * (part(i, name)?.drawn || 0)),
                  tips: shown.map(i => `${labels[i]}: ${name} ${percent(part(i, name)?.share || 0)}`)
                })),
      width, "% of the time; what is left is idle", 100)];
  return figure(
      "device", "What the device does.",
      "Device time of every client over elapsed time. Clients that run at the same time are drawn as parts of the " +
          "time that the device was busy.",
      {
        panels,
        height: rowsHeight(shown),
        series: names.map(name => ({name, fill: fillOf(name)})),
        numbers: () => ({
          columns: [
            {name: "setting", isText: true}, ...names.map(name => ({name, show: percent})),
            {name: "busy at all", show: percent}
          ],
          rows: all.map(i => [labels[i], ...names.map(name => part(i, name)?.share ?? NaN),
                              values.mean(i, "device", "gpu_busy_ratio")])
        })
      });
}

// Who pays: the part of its own rate that every client keeps.
function fairness(scenario, values) {
  const clients = scenario.clients.filter(isClient), kept = (i, client) => values.kept(i, client)?.mean ?? NaN;
  const settings = scenario.settings.map((_, i) => i).filter(i => clients.some(client => isFinite(kept(i, client))));
  if (clients.length < 2 || !settings.length) return null;
  const row = i => {
    const all = clients.map(client => kept(i, client)), known = all.filter(isFinite);
    const squares = sum(known.map(v => v * v));
    const waits = clients.map(c => values.mean(i, c, "wait_p99_ms")).filter(isFinite);
    return [scenario.settings[i].label, ...all, sum(known) ** 2 / (known.length * squares), Math.max(...waits)];
  };
  const columns = [
    {name: "setting", isText: true}, ...clients.map(name => ({name, show: percent})), {name: "Jain's index"},
    {name: "p99 wait", metric: "wait_p99_ms", show: duration}
  ];
  return html(
      "div", {}, html("h3", {}, "Who pays"),
      html(
          "p", {class: "soft"},
          "The part of its rate alone that every client keeps; Jain's index of these (1: all keep the same part; " +
              "1 / number of clients: one keeps everything); the longest p99 wait of an operation at gate and queue."),
      more(
          counted(settings.length, "setting"),
          () => table(columns, settings.map(row), {isSortable: true, label: "Fairness"}), settings.length <= 16));
}

function decisionsTable(scenario) {
  if (!scenario.decisions.length) return null;
  const lines = scenario.decisions.map(
      d => [scenario.settings[d.setting].label, d.action, d.client,
            {text: d.count.toLocaleString("en"), sort: d.count}, d.until_ms]);
  const columns = [
    {name: "setting", isText: true}, {name: "action", isText: true}, {name: "client", isText: true},
    {name: "recorded"}, {name: "until", show: duration}
  ];
  return html(
      "div", {}, html("h3", {}, "What the policies decided"),
      html(
          "p", {class: "soft"},
          "Decisions that were recorded, over all seeds, and the instant of the last one: how many a run keeps is " +
              "the experiment's choice (record:)."),
      more(
          `${lines.length} kinds of decisions`,
          () => table(columns, lines, {isSortable: true, label: "Decisions"})));
}

// The ratio of every prediction to its measurement, over the measurement; a series a verdict.
function validationPanel(all, kinds) {
  const points = all.map(d => ({
                           x: d.measured,
                           y: d.predicted / d.measured,
                           ys: d.mh > d.ml && d.ml > 0 ? [d.predicted / d.mh, d.predicted / d.ml] : undefined,
                           look: kinds.indexOf(d.verdict),
                           tip: `${d.scenario}, ${d.policy}, ${d.client}\n${d.metric}: ` +
                               `predicted ${number(d.predicted)}, measured ${number(d.measured)} ` +
                               `[${number(d.ml)}, ${number(d.mh)}]\n${d.verdict}`
                         }));
  const bound = 1.05 * Math.max(1.25, ...points.flatMap(p => [p.y, 1 / p.y])), xs = points.map(p => p.x);
  const ends = [Math.min(...xs) / 1.5, Math.max(...xs) * 1.5];
  const ticks = {callback: v => number(v)};
  const agreement = ends.map(x => ({x, y: 1}));
  return {
    height: 400,
    zoom: "xy",
    data: {
      datasets: [
        marks(points),
        {type: "line", data: agreement, borderColor: css("--soft"), borderWidth: 1, pointRadius: 0, isSilent: true}
      ]
    },
    scales: {
      x: logarithmic("measured (in the metric's unit)", {min: ends[0], max: ends[1]}),
      y: axis("predicted over measured", {type: "logarithmic", min: 1 / bound, max: bound, ticks})
    }
  };
}

// Predictions against measurements, where a validation is in the results.
function validationFigure() {
  const fields = ["scenario", "policy", "client", "metric", "predicted", "pl", "ph", "measured", "ml", "mh", "verdict"];
  const all = contents.validation.map(row => Object.fromEntries(row.map((value, i) => [fields[i], value])))
                  .filter(d => d.predicted > 0 && d.measured > 0);
  if (!all.length) return null;
  const kinds = unique(all.map(d => d.verdict));
  const words = ["scenario", "policy", "client", "metric"].map(name => ({name, isText: true}));
  return figure(
      "validation", "Predictions against measurements.",
      "Every mark is one figure, predicted and measured; bars come from the measurement's 95 % interval. On the " +
          "line, prediction and measurement agree.",
      {
        panels: () => [validationPanel(all, kinds)],
        height: 400,
        series: kinds.map((kind, look) => ({name: `${kind} (${all.filter(d => d.verdict === kind).length})`, look})),
        numbers: () => ({
          columns: [
            ...words, {name: "predicted"}, {name: "measured"}, {name: "low"}, {name: "high"},
            {name: "error", show: v => `${(v * 100).toFixed(1)} %`}, {name: "verdict", isText: true}
          ],
          rows: all.map(d => [d.scenario, d.policy, d.client, d.metric, d.predicted, d.measured, d.ml, d.mh,
                              d.predicted / d.measured - 1, d.verdict])
        })
      });
}
