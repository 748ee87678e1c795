// A figure: caption, drawing, its numbers as a table. `draw(width)` returns the svg elements; it is called again when
// the width changes, and drawings never depend on anything else.
let figureCount = 0;
function figure(name, title, caption, draw, options = {}) {
  const place = html("div", {class: "drawing"});
  const node = html(
      "figure", {"data-figure": name, id: `figure-${++figureCount}`},
      html(
          "figcaption", {}, html("strong", {}, `Figure ${figureCount}. ${title} `),
          html("span", {class: "says"}, caption)),
      options.controls, place);
  if (options.table) node.append(html("details", {class: "numbers"}, html("summary", {}, "Numbers"), options.table));
  let drawn = 0;
  const redraw = () => {
    const width = Math.max(280, Math.floor(place.clientWidth || 720));
    drawn = width;
    const {height, parts, label} = draw(width);
    place.replaceChildren(svg(
        "svg", {viewBox: `0 0 ${width} ${height}`, width, height, role: "group", "aria-label": label || title}, parts));
    node.setAttribute("data-drawn", "yes");
  };
  node.redraw = redraw;
  new ResizeObserver(() => {
    if (place.clientWidth && Math.abs(place.clientWidth - drawn) > 1) redraw();
  }).observe(place);
  return node;
}

const text = (x, y, words, attributes = {}) => svg("text", {x, y, ...attributes}, words);
const line = (x1, y1, x2, y2, attributes) => svg("line", {x1, y1, x2, y2, ...attributes});
const path = points => points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)},${y.toFixed(1)}`).join("");
function shortened(words, most) { return words.length > most ? words.slice(0, most - 1) + "…" : words; }

// Axes of a panel that spans [left, right] x [top, bottom] in pixels.
function axes(panel, x, y, {xLabel, yLabel, xTick = number, yTick = number, xTicks, yTicks}) {
  const {left, right, top, bottom} = panel, parts = [];
  for (const tick of y ? yTicks || y.ticks(Math.max(3, (bottom - top) / 45)) : []) {
    parts.push(line(left, y(tick), right, y(tick), {class: "grid"}));
    parts.push(text(left - 7, y(tick) + 4, yTick(tick), {class: "tick", "text-anchor": "end"}));
  }
  for (const tick of xTicks || x.ticks(Math.max(3, (right - left) / 75))) {
    parts.push(line(x(tick), top, x(tick), bottom, {class: "grid"}));
    parts.push(text(x(tick), bottom + 16, xTick(tick), {class: "tick", "text-anchor": "middle"}));
  }
  parts.push(line(left, bottom, right, bottom, {class: "axis"}));
  if (xLabel) parts.push(text((left + right) / 2, bottom + 34, xLabel, {class: "label", "text-anchor": "middle"}));
  if (yLabel)
    parts.push(text(0, 0, yLabel, {
      class: "label",
      "text-anchor": "middle",
      transform: `translate(${left - 44},${(top + bottom) / 2}) rotate(-90)`
    }));
  return parts;
}

// A row of buttons that show and hide series; `onChange` redraws.
function legend(labels, looks, shown, onChange) {
  return html("div", {class: "legend", role: "group", "aria-label": "Shown series"}, labels.map((label, i) => {
    const swatch = svg(
        "svg", {width: 26, height: 12, "aria-hidden": "true"},
        line(0, 6, 26, 6, {stroke: color(looks[i]), "stroke-width": 2.5, "stroke-dasharray": dash(looks[i])}),
        mark(looks[i], 13, 6, 3.4));
    const button = html("button", {type: "button", "aria-pressed": shown.has(i) ? "true" : "false"}, swatch, label);
    button.addEventListener("click", () => {
      if (!shown.delete(i)) shown.add(i);
      button.setAttribute("aria-pressed", shown.has(i) ? "true" : "false");
      onChange();
    });
    return button;
  }));
}

// What colours stand for: boxes of [name, attributes], or marks of names, of the first looks where none are given.
const boxKey = entries => html(
    "div", {class: "legend"},
    entries.map(
        ([name, look]) => html(
            "span", {class: "choice"},
            svg("svg", {width: 14, height: 12, "aria-hidden": "true"},
                svg("rect", {x: 0, y: 1, width: 12, height: 10, ...look})),
            ` ${name}`)));
const markKey = (names, looks = names.map((_, i) => i)) => html(
    "div", {class: "legend"},
    names.map(
        (name, i) => html(
            "span", {class: "choice"},
            svg("svg", {width: 14, height: 14, "aria-hidden": "true"}, mark(looks[i], 7, 7, 4.5)), ` ${name}`)));

function choice(label, names, chosen, onChange) {
  const select = html("select", {}, names.map((name, i) => html("option", {value: i, selected: i === chosen}, name)));
  select.addEventListener("change", () => onChange(Number(select.value)));
  return html("label", {class: "choice"}, `${label} `, select);
}
// Whose frames a figure shows: nothing where there is one game alone.
function choiceOfGame(games, chosen, onChange) {
  return games.length > 1 ? html("div", {class: "controls"}, choice("frames of", games, chosen, onChange)) : null;
}
