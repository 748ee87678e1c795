// Zooming and walking through charts. Ends of Chart.js's scales can be set; what sets them is here: the wheel over a
// chart that has the focus, drags, keys and buttons. A panel may name the ends of its axes (`bounds`), that a drag
// moves (`drag: "pan"`), that the panels of its figure move together (`isLinked`), and what changes with its range
// (`onRange`).
const forth = (scale, value) => scale.type === "logarithmic" ? Math.log10(value) : value;
const back = (scale, value) => scale.type === "logarithmic" ? 10 ** value : value;
const zoomed = chart => [...chart.panel.zoom || ""].map(name => chart.scales[name]);
const boundsOf = (chart, scale) => (chart.panel.bounds || {})[scale.id] || chart.home[scale.id];

function setRange(chart, scale, low, high) {
  const [least, most] = boundsOf(chart, scale).map(v => forth(scale, v));
  const length = Math.min(most - least, Math.max(high - low, (most - least) * 1e-5));
  const begin = Math.min(Math.max(low, least), most - length);
  const charts = chart.panel.isLinked && scale.id === "x" ? chart.figure.charts : [chart];
  charts.forEach(one => Object.assign(one.options.scales[scale.id], {
    min: back(scale, begin),
    max: back(scale, begin + length)
  }));
}
function refresh(chart) {
  hideTip();
  chart.walked = -1;
  for (const one of chart.panel.isLinked ? chart.figure.charts : [chart]) {
    one.panel.onRange?.(one, one.options.scales.x.min, one.options.scales.x.max);
    one.update("none");
  }
}
function zoom(chart, factor, at) {
  for (const scale of zoomed(chart)) {
    const low = forth(scale, scale.min), high = forth(scale, scale.max);
    const middle = at ? forth(scale, scale.getValueForPixel(at[scale.axis])) : (low + high) / 2;
    setRange(chart, scale, middle - (middle - low) * factor, middle + (high - middle) * factor);
  }
  refresh(chart);
}
function pan(chart, parts) {
  for (const scale of zoomed(chart)) {
    const low = forth(scale, scale.min), high = forth(scale, scale.max), by = (parts[scale.axis] || 0) * (high - low);
    setRange(chart, scale, low + by, high + by);
  }
  refresh(chart);
}
function resetZoom(chart) {
  for (const scale of zoomed(chart)) setRange(chart, scale, ...chart.home[scale.id].map(v => forth(scale, v)));
  refresh(chart);
}

// The marks that can be seen, in the order of their series.
function marksOf(chart) {
  const {left, right, top, bottom} = chart.chartArea;
  const placed = meta =>
      meta.data.map((element, index) => ({datasetIndex: meta.index, index, ...element.getCenterPoint()}));
  return chart.getSortedVisibleDatasetMetas()
      .filter(meta => !chart.data.datasets[meta.index].isSilent)
      .flatMap(placed)
      .filter(m => m.x >= left - 1 && m.x <= right + 1 && m.y >= top - 1 && m.y <= bottom + 1);
}
// Shows the next mark or, with `isOther`, the nearest one of the next series.
function walk(chart, step, isOther) {
  const all = marksOf(chart), now = all[chart.walked];
  if (!all.length) return;
  let next = now ? (chart.walked + step + all.length) % all.length : 0;
  if (now && isOther) {
    const series = unique(all.map(m => m.datasetIndex));
    const wanted = series[(series.indexOf(now.datasetIndex) + step + series.length) % series.length];
    const distance = m => m.datasetIndex === wanted ? Math.abs(m.x - now.x) : Infinity;
    next = all.reduce((best, m, i) => distance(m) < distance(all[best]) ? i : best, all.findIndex(
        m => m.datasetIndex === wanted));
  }
  chart.walked = next;
  const {datasetIndex, index, x, y} = all[next], box = chart.canvas.getBoundingClientRect();
  chart.setActiveElements([{datasetIndex, index}]);
  chart.render();
  showTip(tipOf(chart, datasetIndex, index), box.left + x, box.top + y);
}

function onKey(chart, event) {
  const step = {ArrowRight: 1, ArrowLeft: -1, ArrowUp: -1, ArrowDown: 1}[event.key];
  const isUpright = event.key === "ArrowUp" || event.key === "ArrowDown";
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (step && event.shiftKey) pan(chart, isUpright ? {y: -step / 4} : {x: step / 4});
  else if (step) walk(chart, step, isUpright);
  else if (event.key === "+" || event.key === "=") zoom(chart, 0.6);
  else if (event.key === "-") zoom(chart, 1 / 0.6);
  else if (event.key === "0") resetZoom(chart);
  else return;
  event.preventDefault();
}

const pointOf = (chart, event) => {
  const box = chart.canvas.getBoundingClientRect();
  return {x: event.clientX - box.left, y: event.clientY - box.top};
};
function onDrag(chart, from, to) {
  if (chart.panel.drag === "pan") {
    pan(chart, {x: (from.x - to.x) / chart.chartArea.width});
    return to;
  }
  chart.drag = {x: Math.min(from.x, to.x), width: Math.abs(to.x - from.x)};
  if (chart.panel.zoom.includes("y"))
    Object.assign(chart.drag, {y: Math.min(from.y, to.y), height: Math.abs(to.y - from.y)});
  chart.draw();
  return from;
}
function onDrop(chart) {
  const {x, y, width, height} = chart.drag || {width: 0};
  chart.drag = null;
  if (width > 6 && !(height <= 6)) {
    const ends = {x: [x, x + width], y: [y + height, y]};
    for (const scale of zoomed(chart))
      setRange(chart, scale, ...ends[scale.axis].map(pixel => forth(scale, scale.getValueForPixel(pixel))));
    refresh(chart);
  } else chart.draw();
}

function steerable(chart) {
  const {canvas, panel} = chart;
  chart.home = Object.fromEntries(zoomed(chart).map(({id, min, max}) => [id, [min, max]]));
  chart.walked = -1;
  canvas.addEventListener("keydown", event => onKey(chart, event));
  canvas.addEventListener("blur", hideTip);
  if (!panel.zoom) return chart;
  canvas.addEventListener("wheel", event => {
    if (document.activeElement !== canvas && !event.ctrlKey) return;
    event.preventDefault();
    zoom(chart, event.deltaY < 0 ? 0.8 : 1.25, pointOf(chart, event));
  }, {passive: false});
  let from = null;
  canvas.addEventListener("pointerdown", event => {
    if (event.button !== 0) return;
    from = pointOf(chart, event);
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", event => {
    if (from) from = onDrag(chart, from, pointOf(chart, event));
  });
  for (const end of ["pointerup", "pointercancel"])
    canvas.addEventListener(end, () => {
      if (from) onDrop(chart);
      from = null;
    });
  canvas.addEventListener("dblclick", () => resetZoom(chart));
  return chart;
}
