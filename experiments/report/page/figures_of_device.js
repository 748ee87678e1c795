// What the device spent its time on under a setting, as drawn parts of the elapsed time. Clients that run at the same
// time get equal parts of the time that the device was busy.
function deviceParts(values, clients, setting) {
  const own =
      clients
          .map((client, k) => ({name: client, share: values.mean(setting, client, "gpu_busy_ratio"), k}))
          .map(({name, share, k}) => ({name, share, fill: clientColor(k)}))
          .filter(part => part.share > 0);
  const device = values.mean(setting, "device", "gpu_busy_ratio"), others = sum(own.map(part => part.share));
  const scale = others > device && device > 0 ? device / others : 1;
  const more =
      [["changing contexts", "switch_ratio", "var(--c7)"], ["stalled on paged memory", "paging_ratio", "var(--bad)"]];
  return [
    ...own.map(part => ({...part, drawn: part.share * scale})),
    ...more.map(([name, metric, fill]) => ({name, drawn: values.mean(setting, "device", metric) || 0, fill}))
  ].filter(part => part.drawn > 0.0005);
}
const percentOf = part => `${number((part.share ?? part.drawn) * 100)} %`;

// A bar a setting.
function deviceFigure(scenario, values) {
  const clients = scenario.clients.filter(isClient),
        settings =
            scenario.settings.slice(0, 40).map((s, i) => i).filter(i => values.get(i, "device", "gpu_busy_ratio"));
  if (!settings.length) return null;
  const stack = i => deviceParts(values, clients, i);
  const labels = scenario.settings.map(s => s.label);
  const draw = width => {
    const room = nameRoom(settings.map(i => labels[i]), width),
          panel = {left: room, right: width - 16, top: 6, bottom: 6 + settings.length * 26};
    const x = linear(0, 100, panel.left, panel.right),
          parts = axes(panel, x, null, {xLabel: "% of the time; what is left is idle"});
    settings.forEach((i, row) => {
      let at = 0;
      const y = panel.top + row * 26;
      parts.push(text(room - 8, y + 17, fits(labels[i], room), {"text-anchor": "end"}));
      for (const part of stack(i)) {
        const from = x(at * 100), to = x(Math.min(1, at + part.drawn) * 100);
        parts.push(withTip(
            svg("rect", {x: from, y: y + 3, width: Math.max(0.5, to - from), height: 19, fill: part.fill}),
            `${labels[i]}: ${part.name} ${percentOf(part)}`, true));
        at += part.drawn;
      }
    });
    return {height: panel.bottom + 44, parts};
  };
  const stacks = settings.map(stack), all = unique(stacks.flat().map(part => part.name));
  const cells = settings.map(
      (i, row) =>
          [{text: labels[i]}, ...all.map(name => {
            const part = stacks[row].find(p => p.name === name);
            return part ? percentOf(part) : "–";
          }),
           `${number(values.mean(i, "device", "gpu_busy_ratio") * 100)} %`]);
  return figure(
      "device", "What the device does.",
      "Device time of every client over elapsed time. Clients that run at the same time " +
          "are drawn as parts of the time that the device was busy.",
      draw, {
        controls: boxKey(all.map(name => [name, {fill: stacks.flat().find(part => part.name === name).fill}])),
        table: table([{name: "setting", isText: true}, ...all.map(name => ({name})), {name: "busy at all"}], cells)
      });
}

// Who pays: the part of its own rate that every client keeps.
function fairness(scenario, values) {
  const clients = scenario.clients.filter(isClient);
  const kept = (i, client) => {
    const rate = rateOf(values, i, client), alone = values.mean(i, client, "solo_throughput_per_s");
    return rate && alone > 0 ? rate.mean / alone : NaN;
  };
  const settings = scenario.settings.map((_, i) => i).filter(i => clients.some(client => isFinite(kept(i, client))));
  if (clients.length < 2 || !settings.length) return null;
  const lines = settings.map(i => {
    const all = clients.map(client => kept(i, client)), known = all.filter(isFinite),
          squares = sum(known.map(v => v * v));
    return [
      {text: scenario.settings[i].label},
      ...all.map(v => ({text: isFinite(v) ? `${number(v * 100)} %` : "–", sort: v})),
      {text: squares > 0 ? number(sum(known) ** 2 / (known.length * squares)) : "–"},
      {text: duration(Math.max(...clients.map(c => values.mean(i, c, "wait_p99_ms")).filter(isFinite)))}
    ];
  });
  return html(
      "div", {}, html("h3", {}, "Who pays"),
      html(
          "p", {class: "soft"},
          "The part of its rate alone that every client keeps; Jain's index of these (1: all " +
              "keep the same part; 1 / number of clients: one keeps everything); the longest p99 " +
              "wait of an operation at gate and queue."),
      table(
          [
            {name: "setting", isText: true}, ...clients.map(name => ({name})), {name: "Jain's index"},
            {name: "p99 wait", metric: "wait_p99_ms"}
          ],
          lines, {isSortable: true, label: "Fairness"}));
}

function decisionsTable(scenario) {
  if (!scenario.decisions.length) return null;
  const lines = scenario.decisions.map(
      d =>
          [{text: scenario.settings[d.setting].label}, {text: d.action}, {text: d.client},
           {text: d.count.toLocaleString("en"), sort: d.count}, {text: duration(d.until_ms), sort: d.until_ms}]);
  return html(
      "div", {}, html("h3", {}, "What the policies decided"),
      html(
          "p", {class: "soft"},
          "Decisions that were recorded, over all seeds, and the instant of the last one: how " +
              "many a run keeps is the experiment's choice (record:)."),
      html(
          "details", {open: lines.length <= 16}, html("summary", {}, `${lines.length} kinds of decisions`),
          table(
              [
                {name: "setting", isText: true}, {name: "action", isText: true}, {name: "client", isText: true},
                {name: "recorded"}, {name: "until"}
              ],
              lines, {isSortable: true, label: "Decisions"})));
}

// The ratio of every prediction to its measurement, over the measurement.
function drawValidation(all, kinds, width) {
  const height = Math.min(480, Math.max(340, width * 0.6)),
        panel = {left: 70, right: width - 20, top: 14, bottom: height - 46};
  const ratios = all.map(d => d.predicted / d.measured),
        bound = Math.max(1.25, ...ratios, ...ratios.map(r => 1 / r)) * 1.05;
  const xs = all.map(d => d.measured),
        x = logarithmic(Math.min(...xs) / 1.5, Math.max(...xs) * 1.5, panel.left, panel.right),
        y = logarithmic(1 / bound, bound, panel.bottom, panel.top);
  const parts = axes(panel, x, y, {
    xLabel: "measured (in the metric's unit)",
    yLabel: "predicted over measured",
    yTicks: [0.1, 0.25, 0.5, 0.7, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 2, 4, 10].filter(t => t > 1 / bound && t < bound)
  });
  parts.push(line(panel.left, y(1), panel.right, y(1), {class: "axis"}));
  all.forEach(d => {
    const k = kinds.indexOf(d.verdict), px = x(d.measured), py = y(d.predicted / d.measured), group = svg("g", {});
    if (d.mh > d.ml && d.ml > 0)
      group.append(line(
          px, y(d.predicted / d.mh), px, y(Math.min(bound, d.predicted / d.ml)), {class: "whisker", stroke: color(k)}));
    group.append(mark(k, px, py));
    parts.push(withTip(
        group,
        `${d.scenario}, ${d.policy}, ${d.client}\n${d.metric}: predicted ` +
            `${number(d.predicted)}, measured ${number(d.measured)} [${number(d.ml)}, ` +
            `${number(d.mh)}]\n${d.verdict}`,
        true));
  });
  return {height, parts};
}

// Predictions against measurements, where a validation is in the results.
function validationFigure() {
  const all = contents.validation
                  .map(
                      ([scenario, policy, client, metric, predicted, pl, ph, measured, ml, mh, verdict]) =>
                          ({scenario, policy, client, metric, predicted, pl, ph, measured, ml, mh, verdict}))
                  .filter(d => d.predicted > 0 && d.measured > 0);
  if (!all.length) return null;
  const kinds = unique(all.map(d => d.verdict));
  const lines = all.map(
      d =>
          [{text: d.scenario}, {text: d.policy}, {text: d.client}, {text: d.metric},
           {text: number(d.predicted), sort: d.predicted},
           {text: `${number(d.measured)} [${number(d.ml)}, ${number(d.mh)}]`, sort: d.measured},
           {text: `${((d.predicted / d.measured - 1) * 100).toFixed(1)} %`, sort: d.predicted / d.measured},
           {text: d.verdict}]);
  return figure(
      "validation", "Predictions against measurements.",
      "Every mark is one figure, predicted and measured; bars come from the measurement's " +
          "95 % interval. On the line, prediction and measurement agree.",
      width => drawValidation(all, kinds, width), {
        controls: markKey(kinds.map(name => `${name} (${all.filter(d => d.verdict === name).length})`)),
        table: table(
            [
              {name: "scenario", isText: true}, {name: "policy", isText: true}, {name: "client", isText: true},
              {name: "metric", isText: true}, {name: "predicted"}, {name: "measured"}, {name: "error"},
              {name: "verdict", isText: true}
            ],
            lines, {isSortable: true})
      });
}
