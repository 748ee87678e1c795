// Two goals against each other: which, depends on what was measured.
function tradeOff(scenario, values) {
  const indices = scenario.settings.map((_, i) => i), clients = scenario.clients.filter(isClient);
  const games = clients.filter(c => indices.some(i => values.get(i, c, "frame_time_p99_ms")));
  const worst = (i, metric, pick) => {
    const all = games.map(c => values.get(i, c, metric)).filter(Boolean);
    return all.length ? all.reduce((a, b) => pick(a.mean, b.mean) === b.mean ? b : a) : undefined;
  };
  const late = {
    y: i => worst(i, "frame_time_p99_ms", Math.max),
    isLogY: true,
    better: [1, -1],
    yLabel: "p99 frame time, ms",
    says: "right and down"
  };
  const even = {better: [1, 1], says: "right and up"};
  if (games.length && indices.some(i => values.get(i, "device", "harvest_ratio")))
    return {
      ...late,
      x: i => values.get(i, "device", "harvest_ratio"),
      scaleX: 100,
      xLabel: "harvest: % of the time that games leave idle alone"
    };
  if (games.length && indices.some(i => worst(i, "quality_mean", Math.min)?.mean < 1))
    return {
      ...even,
      x: i => worst(i, "quality_mean", Math.min),
      y: i => worst(i, "fps_mean", Math.min),
      xLabel: "least mean quality of a game",
      yLabel: "frame rate of the slowest game, fps"
    };
  if (clients.length >= 2 && indices.some(i => values.kept(i, clients[0]) && values.kept(i, clients[1])))
    return {
      ...even,
      x: i => values.kept(i, clients[0]),
      y: i => values.kept(i, clients[1]),
      scaleX: 100,
      scaleY: 100,
      xLabel: `${clients[0]}: % kept`,
      yLabel: `${clients[1]}: % kept`
    };
  if (games.length && clients.length > games.length) {
    const other = clients.find(c => !games.includes(c));
    return {...late, x: i => values.get(i, other, "throughput_per_s"), xLabel: `${other}: jobs per second`};
  }
  return null;
}

const MOST_LABELS = 20;  // of more points, only the best are named
const lookOf = (scenario, policy) => scenario.settings.find(s => s.policy === policy).look;

// The settings as marks, scaled for the axes: which of them no other beats. Many marks look like others of their
// policy.
function tradeOffPoints(scenario, goals) {
  const scaled = (v, s = 1) => ({mean: v.mean * s, low: v.low * s, high: v.high * s, count: v.count});
  const points = scenario.settings.map((setting, i) => ({i, setting, x: goals.x(i), y: goals.y(i)}))
                     .filter(p => p.x && p.y)
                     .map(p => ({...p, x: scaled(p.x, goals.scaleX), y: scaled(p.y, goals.scaleY)}));
  const [gx, gy] = goals.better;
  const beats = (a, b) => gx * a.x.mean >= gx * b.x.mean && gy * a.y.mean >= gy * b.y.mean &&
      (gx * a.x.mean > gx * b.x.mean || gy * a.y.mean > gy * b.y.mean);
  return points.map(p => {
    const isDominated = points.some(other => beats(other, p)), {label, policy, look} = p.setting;
    return {
      i: p.i,
      label,
      isDominated,
      isHollow: isDominated,
      x: p.x.mean,
      y: p.y.mean,
      xs: [p.x.low, p.x.high],
      ys: [p.y.low, p.y.high],
      look: points.length > MOST_LABELS ? lookOf(scenario, policy) : look,
      tip: `${label}\n${goals.xLabel}: ${number(p.x.mean)}${interval(p.x)}\n` +
          `${goals.yLabel}: ${number(p.y.mean)}${interval(p.y)}\n` +
          (isDominated ? "another one is at least as good in both" : "no other one is better in both")
    };
  });
}

// Writes the names of marks, each on the side that has room and clear of those before.
const names = {
  id: "names",
  afterDatasetsDraw(chart) {
    const {ctx, chartArea, scales: {x, y}} = chart;
    const box = (px, py) => ({at: py + 4, from: px - 8, to: px + 8});
    const taken = chart.data.datasets[0].data.map(p => box(x.getPixelForValue(p.x), y.getPixelForValue(p.y)));
    ctx.save();
    for (const p of chart.data.named) {
      const px = x.getPixelForValue(p.x), py = y.getPixelForValue(p.y);
      const isLeft = px > (chartArea.left + chartArea.right) / 2;
      if (px < chartArea.left || px > chartArea.right || py < chartArea.top || py > chartArea.bottom) continue;
      ctx.font = `${p.isDominated ? "" : "600 "}12px ${Chart.defaults.font.family}`;
      const room = isLeft ? px - chartArea.left - 10 : chartArea.right - px - 10;
      const words = shortened(p.label, Math.max(6, Math.floor(room / 6.6))), wide = ctx.measureText(words).width;
      const from = isLeft ? px - 10 - wide : px + 10;
      const meets = (t, at) => Math.abs(t.at - at) < 13 && t.from < from + wide && t.to > from;
      const isFree = at =>
          at > chartArea.top + 10 && at < chartArea.bottom - 2 && !taken.some(other => meets(other, at));
      const at = [4, -9, 17, -22, 30, -35, 43, -48, 56].map(by => py + by).find(isFree);
      if (at === undefined) continue;
      taken.push({at, from, to: from + wide});
      Object.assign(ctx, {strokeStyle: css("--bg"), lineWidth: 3, lineJoin: "round"});
      ctx.strokeText(words, from, at);
      ctx.fillStyle = css(p.isDominated ? "--soft" : "--ink");
      ctx.fillText(words, from, at);
    }
    ctx.restore();
  }
};

function tradeOffPanel(points, goals) {
  const front = points.filter(p => !p.isDominated).sort((a, b) => a.x - b.x), isMany = points.length > MOST_LABELS;
  const ys = points.flatMap(p => p.ys).filter(v => v > 0);
  const isLog = goals.isLogY && Math.max(...ys) / Math.min(...ys) > 8;
  const ends = isLog ? {min: Math.min(...ys) / 1.4, max: Math.max(...ys) * 1.4} : {grace: "12%"};
  const xs = points.flatMap(p => p.xs), isNearZero = Math.min(...xs) >= 0 && Math.min(...xs) < 0.4 * Math.max(...xs);
  const look = {borderColor: css("--soft"), borderDash: [5, 4], borderWidth: 1.5, pointRadius: 0, isSilent: true};
  const line = {type: "line", data: front, ...look};
  return {
    height: 340,
    zoom: "xy",
    plugins: [names],
    data: {
      datasets: [
        marks([...points].sort((a, b) => a.isDominated - b.isDominated), isMany ? {pointRadius: 3} : {pointRadius: 6}),
        ...front.length > 1 ? [line] : []
      ],
      named: isMany ? (front.length <= 12 ? front : []) : [...front, ...points.filter(p => p.isDominated)]
    },
    scales: {
      x: linear(goals.xLabel, {grace: "8%", beginAtZero: isNearZero}),
      y: (isLog ? logarithmic : linear)(goals.yLabel, ends)
    }
  };
}

function hasTradeOff(scenario, values) {
  const goals = tradeOff(scenario, values);
  return goals !== null && scenario.settings.filter((_, i) => goals.x(i) && goals.y(i)).length > 1;
}
function tradeOffFigure(scenario, values) {
  if (!hasTradeOff(scenario, values)) return null;
  const goals = tradeOff(scenario, values), points = tradeOffPoints(scenario, goals);
  const policies = unique(points.map(p => scenario.settings[p.i].policy));
  return figure(
      "trade-off", "What is bought at which price.",
      `Better is ${goals.says}. None is better in both than a filled mark; hollow ones are beaten. ` +
          "Crosses: 95 % intervals.",
      {
        panels: () => [tradeOffPanel(points, goals)],
        series: points.length > MOST_LABELS ? policies.map(name => ({name, look: lookOf(scenario, name)})) : [],
        numbers: () => ({
          columns: [
            {name: "setting", isText: true}, {name: goals.xLabel}, {name: "low"}, {name: "high"}, {name: goals.yLabel},
            {name: "low"}, {name: "high"}, {name: "on the line", isText: true}
          ],
          rows: points.map(p => [p.label, p.x, ...p.xs, p.y, ...p.ys, p.isDominated ? "no" : "yes"])
        })
      });
}
