// Tables. A cell is a text, a node, a number that its column shows, or {text, sort, best}; headings sort.
function table(columns, rows, options = {}) {
  const body = html("tbody");
  const value = (cell, i) => {
    if (typeof cell === "number") return {text: (columns[i].show || number)(cell), sort: cell};
    return cell && typeof cell === "object" && "text" in cell ? cell : {text: cell};
  };
  const render = (list, isSorted) => body.replaceChildren(...list.map(
      row => html("tr", {}, row.map((cell, i) => {
        const {text: words, best, title, isRepeated} = value(cell, i);
        const classes = [columns[i].isText && "words", best && "best", isRepeated && !isSorted && "repeated"];
        const node = html(
            i === 0 ? "th" : "td",
            {scope: i === 0 ? "row" : null, class: classes.filter(Boolean).join(" ") || null}, words);
        return title ? withTip(node, title, false) : node;
      }))));
  let order = null;
  const heads = columns.map((column, i) => {
    const head = html("th", {scope: "col", class: column.isText ? "words" : null});
    head.append(column.metric ? metricWord(column.name, column.metric) : column.name);
    if (!options.isSortable) return head;
    const button = html("button", {type: "button", class: "sort", "aria-label": `sort by ${column.name}`}, "↕");
    button.addEventListener("click", () => {
      order = order && order.i === i ? {i, sign: -order.sign} : {i, sign: column.isText ? 1 : -1};
      heads.forEach(other => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", order.sign > 0 ? "ascending" : "descending");
      const key = row => {
        const cell = value(row[i], i);
        return cell.sort ?? (cell.text === "" ? -Infinity : cell.text);
      };
      render([...rows].sort((a, b) => (key(a) > key(b) ? 1 : key(a) < key(b) ? -1 : 0) * order.sign), true);
    });
    head.append(button);
    return head;
  });
  render(rows);
  return html(
      "div", {class: "scroll", tabindex: "0", role: "region", "aria-label": options.label || "Table"},
      html("table", {}, html("thead", {}, html("tr", {}, heads)), body));
}

const isClient = client => client !== "device" && client !== "cluster";

// The values of a scenario by setting, client and metric: {mean, low, high, count, text, band}; and which part of its
// rate alone a client keeps: {mean, low, high, band: [low, high] or null}.
class Values {
  constructor(scenario) {
    this.of = new Map();
    for (const [setting, client, metric, mean, low, high, count, words, band] of scenario.values)
      this.of.set(`${setting}\n${client}\n${metric}`, {mean, low, high, count, text: words, band});
    for (const [setting, client, mean, low, high, bandLow, bandHigh] of scenario.kept)
      this.of.set(`${setting}\n${client}\n% kept`, {
        ...{mean, low, high, count: this.rate(setting, client).count},
        band: bandLow === null ? null : [bandLow, bandHigh]
      });
  }
  get(setting, client, metric) { return this.of.get(`${setting}\n${client}\n${metric}`); }
  rate(setting, client) {
    return this.get(setting, client, "fps_mean") || this.get(setting, client, "throughput_per_s");
  }
  kept(setting, client) { return this.get(setting, client, "% kept"); }
  mean(setting, client, metric) {
    const found = this.get(setting, client, metric);
    return found ? found.mean : NaN;
  }
}
