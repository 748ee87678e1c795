// Figures by Chart.js, with the palette of Corun. A look is a number: the colours of the palette, then the same with
// other dashes. Marks differ, too: colour is never the only difference. Settings come with their look, which follows
// their policy; clients have their places.
const DASHES = [[], [6, 3], [2, 3], [9, 3, 2, 3]];
const MARKS = [["circle"], ["rect"], ["triangle"], ["rectRot"], ["triangle", 180], ["crossRot"], ["star"], ["cross"]];
const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const color = look => css(`--c${look % contents.colours}`);
const clientColor = place => color(contents.client_looks[place % contents.client_looks.length]);
const dash = look => DASHES[Math.floor(look / contents.colours) % DASHES.length];

// A dataset of marks, one a point: {x, y, look, tip} and, where they are known, the ends `xs` and `ys` of its intervals
// and those of its `band`; `isHollow` leaves the mark empty.
const marks = (points, options = {}) => ({
  type: "scatter",
  data: points,
  pointStyle: points.map(p => MARKS[p.look % MARKS.length][0]),
  pointRotation: points.map(p => MARKS[p.look % MARKS.length][1] || 0),
  pointBackgroundColor: points.map(p => p.isHollow ? css("--bg") : color(p.look)),
  pointBorderColor: points.map(p => color(p.look)),
  pointBorderWidth: 2,
  pointRadius: 5,
  pointHoverRadius: 7,
  pointHitRadius: 8,
  clip: 9,
  ...options
});

const axis = (title, options = {}) => ({title: {display: Boolean(title), text: title}, ...options});
const logTick = function(value, i, ticks) {
  return Chart.Ticks.formatters.logarithmic.call(this, value, i, ticks) && number(value);
};
// Ticks at the steps of a scale alone: Chart.js gives its ends ticks instead of the steps next to them.
const stepsAlone = scale => {
  const at = scale.ticks.map(tick => tick.value), gaps = at.slice(1).map((value, i) => value - at[i]);
  const step = gaps.length > 2 ? gaps[1] : Math.max(...gaps);
  const isEven = i => Math.abs(gaps[Math.max(0, i - 1)] - step) < step / 1e3;
  const even = scale.ticks.filter((_, i) => gaps.length < 2 || 0 < i && i < gaps.length || isEven(i));
  const before = even[0].value - step, after = even.at(-1).value + step;
  const more = [before, after].filter(value => value >= scale.min && value <= scale.max);
  scale.ticks = [...even, ...more.map(value => ({value}))].sort((a, b) => a.value - b.value);
};
const linear = (title, options = {}) =>
    axis(title, {ticks: {callback: v => number(v)}, afterBuildTicks: stepsAlone, ...options});
const logarithmic = (title, options) => axis(title, {type: "logarithmic", ticks: {callback: logTick}, ...options});
// Panels above one another begin at the same place.
const evenly = {afterFit: scale => scale.width = 52};
// The rows of a figure: their names to the left, the first on top.
const rows = (names, width) => axis("", {
  type: "category",
  labels: names.map((_, i) => i),
  offset: true,
  grid: {display: false},
  ticks: {autoSkip: false, callback: i => shortened(names[i], Math.max(12, Math.floor(width / 18)))}
});
const rowsHeight = (names, height = 26) => names.length * height + 84;

// What Chart.js has not: intervals and bands of marks, lines and areas that mean something, and the drag of a zoom.
Chart.register({
  id: "corun",
  beforeDatasetsDraw({ctx, chartArea, scales: {x, y}, data}) {
    ctx.save();
    ctx.beginPath();
    ctx.rect(chartArea.left, chartArea.top, chartArea.width, chartArea.height);
    ctx.clip();
    const stroke = (x1, y1, x2, y2, style, width, dashes = []) => {
      Object.assign(ctx, {strokeStyle: style, lineWidth: width});
      ctx.setLineDash(dashes);
      ctx.stroke(new Path2D(`M${x1},${y1}L${x2},${y2}`));
    };
    for (const {from, to, fill} of data.areas || []) {
      ctx.fillStyle = fill;
      ctx.fillRect(x.getPixelForValue(from), chartArea.top, x.getPixelForValue(to) - x.getPixelForValue(from), 1e4);
    }
    for (const {at, text} of data.lines || []) {
      const px = x.getPixelForValue(at);
      stroke(px, chartArea.top, px, chartArea.bottom, css("--soft"), 1, [4, 3]);
      Object.assign(ctx, {fillStyle: css("--soft"), font: `11px ${Chart.defaults.font.family}`});
      const wide = ctx.measureText(text).width + 4;
      ctx.fillText(text, px + 4 + wide > chartArea.right ? px - wide : px + 4, chartArea.top + 10);
    }
    for (const point of data.datasets.filter(d => d.type === "scatter").flatMap(d => d.data)) {
      const px = x.getPixelForValue(point.x), py = y.getPixelForValue(point.y), own = color(point.look || 0);
      if (point.band) stroke(...point.band.flatMap(v => [x.getPixelForValue(v), py]), `${own}40`, 11);
      if (point.xs) stroke(...point.xs.flatMap(v => [x.getPixelForValue(v), py]), own, 2);
      if (point.ys) stroke(...point.ys.flatMap(v => [px, y.getPixelForValue(v)]), own, 2);
    }
    ctx.restore();
  },
  afterDraw({ctx, chartArea, drag}) {
    if (!drag) return;
    ctx.fillStyle = `${css("--accent")}33`;
    ctx.fillRect(drag.x, drag.y ?? chartArea.top, drag.width, drag.height ?? chartArea.height);
  }
});

function takeColours() {
  Object.assign(Chart.defaults, {color: css("--ink"), borderColor: css("--grid"), animation: false});
  Object.assign(Chart.defaults.font, {family: getComputedStyle(document.body).fontFamily, size: 12});
  Chart.defaults.maintainAspectRatio = false;
  Chart.defaults.plugins.legend.display = false;
}

const tipOf = (chart, place, index) => {
  const dataset = chart.data.datasets[place], point = dataset.data[index];
  return point.tip || dataset.tip?.(point) || `${dataset.label || ""} ${number(point.x)}: ${number(point.y)}`;
};
function tell({chart, tooltip}) {
  const found = tooltip.dataPoints?.[0], box = chart.canvas.getBoundingClientRect();
  if (!found || tooltip.opacity === 0) hideTip();
  else showTip(tipOf(chart, found.datasetIndex, found.dataIndex), box.left + tooltip.caretX, box.top + tooltip.caretY);
}

// A panel is {title, height, data, scales} of Chart.js, the axes that `zoom` ("x", "xy"), and what zoom.js reads.
function drawPanel(canvas, panel, node) {
  const chart = new Chart(canvas, {
    type: panel.type || "scatter",
    data: panel.data,
    plugins: panel.plugins || [],
    options: {
      indexAxis: panel.type === "bar" ? "y" : "x",
      scales: panel.scales,
      interaction: {mode: "nearest", axis: panel.near || "xy", intersect: !panel.near},
      plugins: {
        title: {display: Boolean(panel.title), text: panel.title, align: "start", font: {size: 13}},
        tooltip: {enabled: false, external: tell}
      }
    }
  });
  return steerable(Object.assign(chart, {panel, figure: node}));
}

// Drawn when they come near the window.
const watcher = new IntersectionObserver(
    entries => entries.filter(entry => entry.isIntersecting && !entry.target.dataset.drawn)
                   .forEach(entry => entry.target.draw()),
    {rootMargin: "500px"});

// A figure: caption, charts, their numbers as a table. `panels(width)` returns the panels; it is called again when the
// theme or a control changes. `numbers()` returns {columns, rows}.
let figureCount = 0;
function figure(name, title, caption, {panels, controls, series = [], numbers, height = 320}) {
  const place = html("div", {class: "drawing"}), place_ = ++figureCount;
  const button = (words, label, act) =>
      html("button", {type: "button", "aria-label": label, title: label, onclick: act}, words);
  const zoomAll = act => () => node.charts.forEach(act);
  const tools = html(
      "div", {class: "tools", role: "group", "aria-label": `Figure ${place_}`},
      html(
          "span", {class: "zooms"}, button("+", "Zoom in", zoomAll(chart => zoom(chart, 0.6))),
          button("−", "Zoom out", zoomAll(chart => zoom(chart, 1 / 0.6))),
          button("Reset", "Reset the zoom", zoomAll(resetZoom))),
      button("PNG", "Save the figure as a picture", () => save(node.png(), `${name}.png`)),
      button("CSV", "Save the numbers", () => save(`data:text/csv,${encodeURIComponent(node.csv())}`, `${name}.csv`)));
  const node = html(
      "figure", {"data-figure": name, id: `figure-${place_}`},
      html(
          "figcaption", {}, html("strong", {}, `Figure ${place_}. ${title} `), html("span", {class: "says"}, caption)),
      controls, tools, series.length ? legend(series) : "", place, more("Numbers", () => numbersTable(numbers())));
  Object.assign(node, {
    charts: [],
    legend: series,
    draw: () => {
      node.charts.forEach(chart => chart.destroy());
      const all = panels(place.clientWidth || 720), canvases = all.map(panel => html("canvas", {
        tabindex: "0", role: "img", "aria-describedby": "keys",
        "aria-label": `Figure ${place_}. ${title} ${panel.title || ""}`
      }));
      const boxes = canvases.map(canvas => html("div", {class: "panel"}, canvas));
      boxes.forEach((box, i) => box.style.height = `${all[i].height}px`);
      place.replaceChildren(...boxes);
      place.style.minHeight = "";
      node.charts = all.map((panel, i) => drawPanel(canvases[i], panel, node));
      node.dataset.drawn = "yes";
      node.querySelector(".zooms").hidden = !all.some(panel => panel.zoom);
    },
    redraw: () => node.dataset.drawn && node.draw(),
    png: () => picture(node, place, `Figure ${place_}. ${title}`),
    csv: () => csvText(numbers())
  });
  place.style.minHeight = `${height}px`;
  watcher.observe(node);
  return node;
}

const MOST_ROWS = 500;  // of a table of numbers; the file has all
function numbersTable({columns, rows}) {
  const all = table(columns, rows.slice(0, MOST_ROWS), {isSortable: true, label: "Numbers of the figure"});
  if (rows.length > MOST_ROWS)
    all.append(html("p", {class: "soft"}, `The first ${MOST_ROWS} of ${counted(rows.length, "row")}; CSV has all.`));
  return all;
}
function csvText({columns, rows}) {
  const field = cell => {
    const words = String(cell ?? "");
    return /[",\n]/.test(words) ? `"${words.replaceAll("\"", "\"\"")}"` : words;
  };
  return [columns.map(c => c.name), ...rows].map(row => row.map(field).join(",") + "\n").join("");
}
function save(address, name) { html("a", {href: address, download: name}).click(); }

// All panels of a figure as one picture, twice as fine as the screen, with title and legend.
function picture(node, place, title) {
  if (!node.dataset.drawn) node.draw();
  const scale = 2, from = place.getBoundingClientRect(), head = 34 + 20 * node.legend.length;
  const canvas = html("canvas", {width: from.width * scale, height: (from.height + head) * scale});
  const ctx = canvas.getContext("2d");
  ctx.scale(scale, scale);
  ctx.fillStyle = css("--bg");
  ctx.fillRect(0, 0, canvas.width, canvas.height);
  Object.assign(ctx, {fillStyle: css("--ink"), font: `600 15px ${Chart.defaults.font.family}`});
  ctx.fillText(title, 8, 20);
  node.legend.forEach(({name, look, fill}, i) => {
    drawSwatch(ctx, 8, 40 + 20 * i, look, fill);
    Object.assign(ctx, {fillStyle: css("--ink"), font: `12px ${Chart.defaults.font.family}`});
    ctx.fillText(name, 36, 44 + 20 * i);
  });
  for (const chart of node.charts) {
    const box = chart.canvas.getBoundingClientRect();
    chart.options.devicePixelRatio = scale;
    chart.resize();
    ctx.drawImage(chart.canvas, box.left - from.left, box.top - from.top + head, box.width, box.height);
    chart.options.devicePixelRatio = undefined;
    chart.resize();
  }
  return canvas.toDataURL("image/png");
}

// What stands for a series: the mark and line of its look, or a box of its colour.
function drawSwatch(ctx, x, y, look, fill) {
  if (fill) {
    ctx.fillStyle = fill();
    ctx.fillRect(x + 4, y - 6, 12, 12);
    return;
  }
  const [pointStyle, rotation = 0] = MARKS[look % MARKS.length];
  Object.assign(ctx, {strokeStyle: color(look), fillStyle: color(look), lineWidth: 2.5});
  ctx.setLineDash(dash(look));
  ctx.stroke(new Path2D(`M${x},${y}h24`));
  ctx.setLineDash([]);
  Chart.helpers.drawPoint(ctx, {pointStyle, rotation, radius: 5, borderWidth: 2}, x + 12, y);
}
function swatch(look, fill) {
  const canvas = html("canvas", {class: "swatch", width: 48, height: 28, "aria-hidden": "true"});
  canvas.paint = () => {
    const ctx = canvas.getContext("2d");
    ctx.setTransform(2, 0, 0, 2, 0, 0);
    ctx.clearRect(0, 0, 24, 14);
    drawSwatch(ctx, 0, 7, look, fill);
  };
  return canvas;
}

// A legend: entries of {name, look} or {name, fill}. With `shown`, a set of their places, they are buttons that show
// and hide series.
function legend(entries, shown, onChange) {
  return html("div", {class: "legend", role: "group", "aria-label": "Series"}, entries.map(({name, look, fill}, i) => {
    if (!shown) return html("span", {class: "choice"}, swatch(look, fill), ` ${name}`);
    const isShown = () => shown.has(i) ? "true" : "false";
    const button = html("button", {type: "button", "aria-pressed": isShown()}, swatch(look, fill), name);
    button.addEventListener("click", () => {
      if (!shown.delete(i)) shown.add(i);
      button.setAttribute("aria-pressed", isShown());
      onChange();
    });
    return button;
  }));
}
function choice(label, names, chosen, onChange) {
  const select = html("select", {}, names.map((name, i) => html("option", {value: i, selected: i === chosen}, name)));
  select.addEventListener("change", () => onChange(Number(select.value)));
  return html("label", {class: "choice"}, `${label} `, select);
}
// Whose frames a figure shows: nothing where there is one game alone.
function choiceOfGame(games, chosen, onChange) {
  return games.length > 1 ? html("div", {class: "controls"}, choice("frames of", games, chosen, onChange)) : null;
}
