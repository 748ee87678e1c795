// Rows of a plot with a name to the left: how much room the names take.
const nameRoom = (labels, width) =>
    Math.min(width * 0.38, 18 + 7.7 * Math.max(...labels.map(label => Math.min(label.length, 34))));
const fits = (label, room) => shortened(label, Math.max(6, Math.floor((room - 12) / 6.8)));
const isClient = client => client !== "device" && client !== "cluster";
const rateOf = (values, setting, client) =>
    values.get(setting, client, "fps_mean") || values.get(setting, client, "throughput_per_s");

// What each policy gives each client: mean and interval, with the rate alone as a dashed line.
function ratesFigure(scenario, values) {
  const clients = scenario.clients.filter(
      client => isClient(client) && scenario.settings.some((s, i) => rateOf(values, i, client)));
  if (!clients.length) return null;
  const most = Math.min(scenario.settings.length, 40), labels = scenario.settings.slice(0, most).map(s => s.label);
  const draw = width => {
    const columns = Math.max(1, Math.min(clients.length, Math.floor(width / 300), 3)),
          room = nameRoom(labels, width / (columns > 1 ? 1 : 1));
    const rowHeight = 22, panelHeight = labels.length * rowHeight + 84, parts = [];
    const step = (width - room) / columns;
    clients.forEach((client, k) => {
      const row = Math.floor(k / columns), column = k % columns, y0 = row * panelHeight;
      const left = room + column * step + 8, right = room + (column + 1) * step - 22, top = y0 + 28,
            bottom = top + labels.length * rowHeight;
      const all = labels.map((_, i) => rateOf(values, i, client));
      const alone = labels.map((_, i) => values.mean(i, client, "solo_throughput_per_s")).find(isFinite);
      const isGame = labels.some((_, i) => values.get(i, client, "fps_mean"));
      const x = linear(0, Math.max(alone || 0, ...all.map(v => v ? v.high : 0)) * 1.04 || 1, left, right);
      parts.push(text(left, y0 + 16, client, {class: "name"}));
      parts.push(axes({left, right, top, bottom}, x, null, {
        xLabel: isGame ? "frames shown per second" : "jobs per second",
        xTicks: x.ticks(Math.max(2, (right - left) / 70))
      }));
      if (alone)
        parts.push(
            withTip(line(x(alone), top, x(alone), bottom, {class: "limit"}), `${client} alone: ${number(alone)} /s`));
      all.forEach((value, i) => {
        const y = top + (i + 0.5) * rowHeight;
        if (column === 0) parts.push(text(room - 8, y + 4, fits(labels[i], room), {"text-anchor": "end"}));
        if (!value) {
          parts.push(text(left + 4, y + 4, "no figure", {class: "note"}));
          return;
        }
        const look = scenario.settings[i].look;
        const node =
            svg("g", {}, line(x(value.low), y, x(value.high), y, {class: "whisker", stroke: color(look)}),
                mark(look, x(value.mean), y));
        parts.push(withTip(
            node,
            `${labels[i]}, ${client}: ` +
                `${value.text}${
                    value.count > 2     ? ` (mean and 95 % interval of ${value.count} runs)` :
                        value.count > 1 ? " (mean of 2 runs: no interval)" :
                                          ""}` +
                (value.band ? `, band ${value.band}` : ""),
            true));
      });
    });
    return {height: Math.ceil(clients.length / columns) * panelHeight, parts};
  };
  return figure(
      "rates", "What every client gets.",
      "Marks are means over the seeds, bars their 95 % intervals; the dashed line is the " +
          "client alone on the device. Farther right is better." +
          (most < scenario.settings.length ? ` The first ${most} of ${scenario.settings.length} settings.` : ""),
      draw);
}

// Two goals against each other: which, depends on what was measured.
function tradeOff(scenario, values) {
  const indices = scenario.settings.map((_, i) => i), clients = scenario.clients.filter(isClient);
  const games = clients.filter(c => indices.some(i => values.get(i, c, "frame_time_p99_ms")));
  const worst = (i, metric, pick) => {
    const all = games.map(c => values.get(i, c, metric)).filter(Boolean);
    return all.length ? all.reduce((a, b) => pick(a.mean, b.mean) === b.mean ? b : a) : undefined;
  };
  if (games.length && indices.some(i => values.get(i, "device", "harvest_ratio")))
    return {
      x: i => values.get(i, "device", "harvest_ratio"),
      y: i => worst(i, "frame_time_p99_ms", Math.max),
      isLogY: true,
      better: [1, -1],
      scaleX: 100,
      xLabel: "harvest: % of the time that games leave idle alone",
      yLabel: "p99 frame time, ms",
      says: "right and down"
    };
  if (games.length && indices.some(i => worst(i, "quality_mean", Math.min)?.mean < 1))
    return {
      x: i => worst(i, "quality_mean", Math.min),
      y: i => worst(i, "fps_mean", Math.min),
      better: [1, 1],
      xLabel: "least mean quality of a game",
      yLabel: "frame rate of the slowest game, fps",
      says: "right and up"
    };
  const kept = (i, c) => {
    const rate = rateOf(values, i, c), alone = values.mean(i, c, "solo_throughput_per_s");
    return rate && alone > 0 ?
        {mean: rate.mean / alone, low: rate.low / alone, high: rate.high / alone, count: rate.count} :
        undefined;
  };
  if (clients.length >= 2 && indices.some(i => kept(i, clients[0]) && kept(i, clients[1])))
    return {
      x: i => kept(i, clients[0]),
      y: i => kept(i, clients[1]),
      better: [1, 1],
      scaleX: 100,
      scaleY: 100,
      xLabel: `${clients[0]}: % of its rate alone`,
      yLabel: `${clients[1]}: % of its rate alone`,
      says: "right and up"
    };
  if (games.length && clients.length > games.length) {
    const other = clients.find(c => !games.includes(c));
    return {
      x: i => values.get(i, other, "throughput_per_s"),
      y: i => worst(i, "frame_time_p99_ms", Math.max),
      isLogY: true,
      better: [1, -1],
      xLabel: `${other}: jobs per second`,
      yLabel: "p99 frame time, ms",
      says: "right and down"
    };
  }
  return null;
}

const lookOf = (scenario, policy) => scenario.settings.find(s => s.policy === policy).look;
const keyOf = (scenario, policies) => markKey(unique(policies), unique(policies).map(name => lookOf(scenario, name)));

// The settings as points, scaled for the axes: which of them no other beats, and the number of its `look`. Many points
// look like others of their policy.
function tradeOffPoints(scenario, goals) {
  const scaled = (v, s = 1) => ({mean: v.mean * s, low: v.low * s, high: v.high * s, count: v.count});
  const points = scenario.settings.map((setting, i) => ({i, label: setting.label, x: goals.x(i), y: goals.y(i)}))
                     .filter(p => p.x && p.y)
                     .map(p => ({...p, x: scaled(p.x, goals.scaleX), y: scaled(p.y, goals.scaleY)}));
  const [gx, gy] = goals.better;
  const beats = (a, b) => gx * a.x.mean >= gx * b.x.mean && gy * a.y.mean >= gy * b.y.mean &&
      (gx * a.x.mean > gx * b.x.mean || gy * a.y.mean > gy * b.y.mean);
  const policyOf = p => scenario.settings[p.i].policy, isMany = points.length > MOST_LABELS;
  return points.map(p => ({
                      ...p,
                      isDominated: points.some(other => beats(other, p)),
                      look: isMany ? lookOf(scenario, policyOf(p)) : scenario.settings[p.i].look
                    }));
}

// The scales of the panel, with room around what is drawn.
function tradeOffScales(points, goals, panel) {
  const xs = points.flatMap(p => [p.x.low, p.x.high]),
        ys = points.flatMap(p => [p.y.low, p.y.high]).filter(v => v > 0 || !goals.isLogY);
  const [left, right, bottom, top] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const spread = right - left || Math.abs(xs[0]) || 1, rise = top - bottom || ys[0];
  return [
    linear(Math.max(Math.min(0, left), left - 0.08 * spread), right + 0.14 * spread, panel.left, panel.right),
    goals.isLogY && top / bottom > 8 ? logarithmic(bottom / 1.4, top * 1.4, panel.bottom, panel.top) :
                                       linear(bottom - 0.12 * rise, top + 0.12 * rise, panel.bottom, panel.top)
  ];
}

// Writes the name of the point at (px, py) on the side that has room, clear of its whisker and of the names in `taken`.
function tradeOffLabel(p, px, py, x, panel, width, taken) {
  const letter = 6.6, gap = 12, roomLeft = px - gap, roomRight = width - px - gap;
  const isLeft = Math.min(p.label.length, 40) * letter > roomRight && roomLeft > roomRight;
  const words = shortened(p.label, Math.min(40, Math.floor((isLeft ? roomLeft : roomRight) / letter)));
  const wide = words.length * letter;
  const box = {a: isLeft ? px - gap - wide : px + gap, b: isLeft ? px - gap : px + gap + wide};
  const isOnWhisker = isLeft ? x(p.x.low) < px - gap : x(p.x.high) > px + gap;
  let y = py + (isOnWhisker ? -6 : 4);
  for (let tries = 0; tries < 12 && taken.some(t => Math.abs(t.y - y) < 13 && t.a < box.b && t.b > box.a); ++tries)
    y += py > (panel.top + panel.bottom) / 2 ? -13 : 13;
  taken.push({y, ...box});
  return text(
      isLeft ? px - gap : px + gap, y, words,
      {"text-anchor": isLeft ? "end" : "start", class: p.isDominated ? "note" : "name"});
}

const withInterval = v => number(v.mean) + (v.count > 2 ? ` [${number(v.low)}, ${number(v.high)}]` : "");

// A point: its mark, hollow where another one is better, and its intervals.
function tradeOffMark(p, x, y, isSmall) {
  const px = x(p.x.mean), py = y(p.y.mean), group = svg("g", {class: p.isDominated ? "dominated" : null}),
        whisker = {stroke: color(p.look), class: "whisker"};
  if (p.x.high > p.x.low) group.append(line(x(p.x.low), py, x(p.x.high), py, whisker));
  if (p.y.high > p.y.low) group.append(line(px, y(Math.max(p.y.low, y.low)), px, y(p.y.high), whisker));
  const dot = mark(p.look, px, py, isSmall ? 3.5 : 6);
  if (p.isDominated) {
    dot.setAttribute("fill", "var(--bg)");
    dot.style.stroke = color(p.look);
    dot.style.strokeWidth = isSmall ? "1.2" : "2";
  }
  group.append(dot);
  return group;
}

function drawTradeOff(points, goals, width) {
  const height = Math.min(430, Math.max(320, width * 0.52)),
        panel = {left: 64, right: width - 20, top: 14, bottom: height - 46};
  const [x, y] = tradeOffScales(points, goals, panel), isMany = points.length > MOST_LABELS;
  const parts = axes(panel, x, y, {xLabel: goals.xLabel, yLabel: goals.yLabel});
  const front = points.filter(p => !p.isDominated).sort((a, b) => a.x.mean - b.x.mean);
  if (front.length > 1) parts.push(svg("path", {class: "front", d: path(front.map(p => [x(p.x.mean), y(p.y.mean)]))}));
  const taken = [];
  for (const p of [...points].sort((a, b) => b.isDominated - a.isDominated)) {
    const group = tradeOffMark(p, x, y, isMany);
    if (!isMany || !p.isDominated && front.length <= 12)
      group.append(tradeOffLabel(p, x(p.x.mean), y(p.y.mean), x, panel, width, taken));
    parts.push(withTip(
        group,
        `${p.label}\n` +
            `${goals.xLabel}: ${withInterval(p.x)}\n${goals.yLabel}: ${withInterval(p.y)}\n` +
            (p.isDominated ? "another one is at least as good in both" : "no other one is better in both"),
        true));
  }
  return {height, parts};
}

const MOST_LABELS = 20;  // of more points, only the best are named
function tradeOffFigure(scenario, values) {
  const goals = tradeOff(scenario, values), points = goals ? tradeOffPoints(scenario, goals) : [];
  if (points.length < 2) return null;
  const rows =
      points.map(p => [{text: p.label}, number(p.x.mean), number(p.y.mean), {text: p.isDominated ? "no" : "yes"}]);
  return figure(
      "trade-off", "What is bought at which price.",
      `Better is ${goals.says}. Filled marks, which a dashed line joins, are beaten by none in both; ` +
          "hollow ones are. Crosses are 95 % intervals.",
      width => drawTradeOff(points, goals, width), {
        controls: points.length > MOST_LABELS ? keyOf(scenario, points.map(p => scenario.settings[p.i].policy)) : null,
        table: table(
            [
              {name: "setting", isText: true}, {name: goals.xLabel}, {name: goals.yLabel},
              {name: "on the line", isText: true}
            ],
            rows)
      });
}

// How a figure moves with a swept parameter; one panel a parameter.
const ofUnit = unit => value => unit === "ns" ? duration(value / 1e6) : `${number(value)}${unit || ""}`;
function sensitivityFigure(scenario, values) {
  const parameters = unique(scenario.settings.flatMap(s => Object.keys(s.swept)));
  const goals = tradeOff(scenario, values);
  const of = goals ? {get: goals.y, scale: goals.scaleY || 1, label: goals.yLabel} : null;
  if (!parameters.length || !of) return null;
  const names = unique(scenario.settings.filter(s => Object.keys(s.swept).length).map(s => s.policy));
  const draw = width => {
    const columns = Math.max(1, Math.min(parameters.length, Math.floor(width / 320))), step = width / columns, h = 250,
          parts = [];
    parameters.forEach((parameter, k) => {
      const all = scenario.settings.map((s, i) => ({s, v: of.get(i), p: s.swept[parameter]}))
                      .filter(d => d.v && d.p !== undefined);
      const x0 = (k % columns) * step, y0 = Math.floor(k / columns) * h,
            panel = {left: x0 + 64, right: x0 + step - 16, top: y0 + 14, bottom: y0 + h - 48};
      const ps = all.map(d => d.p), vs = all.map(d => d.v.mean * of.scale),
            pad = (Math.max(...vs) - Math.min(...vs)) * 0.1 || 1;
      const isLog = Math.min(...ps) > 0 && Math.max(...ps) / Math.min(...ps) > 20;
      const x = (isLog ? logarithmic : linear)(Math.min(...ps), Math.max(...ps), panel.left, panel.right),
            y = linear(Math.min(...vs) - pad, Math.max(...vs) + pad, panel.bottom, panel.top);
      parts.push(axes(
          panel, x, y,
          {xLabel: parameter, xTick: ofUnit(contents.swept_units[parameter]), yLabel: k % columns ? "" : of.label}));
      names.forEach(name => {
        const look = lookOf(scenario, name);
        const own = all.filter(d => d.s.policy === name), at = unique(own.map(d => d.p)).sort((a, b) => a - b);
        parts.push(svg("path", {
          class: "curve",
          stroke: color(look),
          d: path(at.map(p => {
            const same = own.filter(d => d.p === p);
            return [x(p), y(sum(same.map(d => d.v.mean * of.scale)) / same.length)];
          }))
        }));
        own.forEach(
            d => parts.push(
                withTip(
                    mark(look, x(d.p), y(d.v.mean * of.scale), 3), `${d.s.label}: ${number(d.v.mean * of.scale)}`)));
      });
    });
    return {height: Math.ceil(parameters.length / columns) * h, parts};
  };
  return figure(
      "sensitivity", "Which parameter matters.",
      `Every mark is a setting of the sweep (${names.join(", ")}); lines are means over ` +
          "the other parameters.",
      draw, {controls: keyOf(scenario, names)});
}
