const interval = v => v.count > 2 ? ` [${number(v.low)}, ${number(v.high)}]` : "";
const counts = v => v.count > 2 ? ` (mean and 95 % interval of ${v.count} runs)` :
    v.count > 1                 ? " (mean of 2 runs: no interval)" :
                                  "";
const ofBand = band => band ? `(${number(band[0] * 100)}–${number(band[1] * 100)})` : "";
const MOST_KEPT = 8;  // settings in the table of the first screen

// The first screen's table: the part of its rate alone that each client keeps. Of many settings those that no other
// beats; of many clients the one that keeps least.
function keptTable(scenario, values) {
  const clients = scenario.clients.filter(c => isClient(c) && scenario.settings.some((_, i) => values.kept(i, c)));
  if (!clients.length) return null;
  const all = scenario.settings.map((_, i) => i).filter(i => clients.some(c => values.kept(i, c)));
  const goals = tradeOff(scenario, values);
  const best = all.length > MOST_KEPT && goals ?
      tradeOffPoints(scenario, goals).filter(p => !p.isDominated).map(p => p.i) :
      all;
  const shown = best.slice(0, MOST_KEPT), isMany = clients.length > 4;
  const band = v => html("span", {class: "interval"}, ofBand(v.band));
  const cell = v => v ? {text: [percent(v.mean), band(v)], sort: v.mean} : "–";
  const least = i => clients.map(c => ({c, v: values.kept(i, c)})).filter(({v}) => v).reduce(
      (a, b) => b.v.mean < a.v.mean ? b : a);
  const row = i => isMany ? [cell(least(i).v), least(i).c] : clients.map(c => cell(values.kept(i, c)));
  const hasBands = shown.some(i => clients.some(c => values.kept(i, c)?.band));
  return html(
      "div", {class: "kept"}, html("h3", {}, "% kept of the rate alone"),
      table(
          [
            {name: "", isText: true},
            ...isMany ? [{name: `least of ${clients.length}`}, {name: "client", isText: true}] :
                        clients.map(name => ({name}))
          ],
          shown.map(i => [{text: labelled(scenario.settings[i])}, ...row(i)]), {label: "% kept"}),
      html(
          "p", {class: "soft"},
          (hasBands ? "( ): where 90 % of measured figures lie. " : "") +
              (shown.length < all.length ? `${shown.length} of ${all.length} settings; all below.` : "")));
}

// What each policy gives each client: mean and interval, with the rate alone as a dashed line.
const MOST_RATES = 40;
function ratesPanel(scenario, values, client, width) {
  const settings = scenario.settings.slice(0, MOST_RATES), labels = settings.map(s => s.label);
  const all = settings.map((_, i) => values.rate(i, client));
  const alone = labels.map((_, i) => values.mean(i, client, "solo_throughput_per_s")).find(isFinite);
  const banded = v => v.band ? `, band ${v.band}` : "";
  const points = all.map((v, i) => v && ({
                                    x: v.mean,
                                    y: i,
                                    xs: [v.low, v.high],
                                    look: settings[i].look,
                                    tip: `${labels[i]}, ${client}: ${v.text}${counts(v)}${banded(v)}`
                                  }));
  const isGame = labels.some((_, i) => values.get(i, client, "fps_mean"));
  const most = 1.04 * Math.max(alone || 0, ...all.map(v => v ? v.high : 0)) || 1;
  return {
    title: client,
    height: rowsHeight(labels),
    zoom: "x",
    data: {datasets: [marks(points.filter(Boolean))], lines: alone ? [{at: alone, text: "alone"}] : []},
    scales: {
      x: linear(isGame ? "frames shown per second" : "jobs per second", {min: 0, max: most}),
      y: rows(labels, width)
    }
  };
}
function ratesFigure(scenario, values) {
  const clients = scenario.clients.filter(c => isClient(c) && scenario.settings.some((_, i) => values.rate(i, c)));
  if (!clients.length) return null;
  const isCut = MOST_RATES < scenario.settings.length;
  return figure(
      "rates", "What every client gets.",
      "Marks are means over the seeds, bars their 95 % intervals; the dashed line is the client alone on the device." +
          (isCut ? ` The first ${MOST_RATES} of ${scenario.settings.length} settings.` : ""),
      {
        panels: width => clients.map(client => ratesPanel(scenario, values, client, width)),
        numbers: () => ({
          columns: [
            {name: "setting", isText: true}, {name: "client", isText: true}, {name: "rate"}, {name: "low"},
            {name: "high"}, {name: "alone"}, {name: "kept", show: percent}
          ],
          rows: scenario.settings.flatMap(
              (s, i) => clients.filter(c => values.rate(i, c)).map(c => {
                const v = values.rate(i, c), alone = values.mean(i, c, "solo_throughput_per_s");
                return [s.label, c, v.mean, v.low, v.high, alone, values.kept(i, c)?.mean ?? NaN];
              }))
        })
      });
}

// How a figure moves with a swept parameter; one panel a parameter.
const ofUnit = unit => value => unit === "ns" ? duration(value / 1e6) : `${number(value)}${unit || ""}`;
function sensitivityPanel(scenario, parameter, of, policies) {
  const all = scenario.settings.map((s, i) => ({s, v: of.get(i), p: s.swept[parameter]}))
                  .filter(d => d.v && d.p !== undefined);
  const ps = all.map(d => d.p), isLog = Math.min(...ps) > 0 && Math.max(...ps) / Math.min(...ps) > 20;
  const show = ofUnit(contents.swept_units[parameter]);
  const points = all.map(d => ({
                           x: d.p,
                           y: d.v.mean * of.scale,
                           look: lookOf(scenario, d.s.policy),
                           tip: `${d.s.label}: ${number(d.v.mean * of.scale)}`
                         }));
  const lines = policies.map(policy => {
    const own = all.filter(d => d.s.policy === policy), at = unique(own.map(d => d.p)).sort((a, b) => a - b);
    const mean = p => own.filter(d => d.p === p).map(d => d.v.mean * of.scale);
    return {
      type: "line",
      label: policy,
      data: at.map(p => ({x: p, y: sum(mean(p)) / mean(p).length})),
      borderColor: color(lookOf(scenario, policy)),
      borderWidth: 2,
      pointRadius: 0,
      tip: point => `${policy}, mean at ${show(point.x)}: ${number(point.y)}`
    };
  });
  return {
    height: 270,
    zoom: "xy",
    data: {datasets: [marks(points, {pointRadius: 3}), ...lines]},
    scales: {
      x: axis(parameter, {type: isLog ? "logarithmic" : "linear", ticks: {callback: show, maxTicksLimit: 7}}),
      y: linear(of.label, {grace: "10%"})
    }
  };
}
function sensitivityFigure(scenario, values) {
  const parameters = unique(scenario.settings.flatMap(s => Object.keys(s.swept)));
  const goals = tradeOff(scenario, values);
  if (!parameters.length || !goals) return null;
  const of = {get: goals.y, scale: goals.scaleY || 1, label: goals.yLabel};
  const policies = unique(scenario.settings.filter(s => Object.keys(s.swept).length).map(s => s.policy));
  return figure(
      "sensitivity", "Which parameter matters.",
      `Every mark is a setting of the sweep (${policies.join(", ")}); lines are means over the other parameters.`, {
        panels: () => parameters.map(parameter => sensitivityPanel(scenario, parameter, of, policies)),
        series: policies.map(name => ({name, look: lookOf(scenario, name)})),
        numbers: () => ({
          columns: [{name: "setting", isText: true}, ...parameters.map(name => ({name})), {name: of.label}],
          rows: scenario.settings.map((s, i) => [s.label, ...parameters.map(p => s.swept[p] ?? NaN),
                                                 of.get(i) ? of.get(i).mean * of.scale : NaN])
        })
      });
}
