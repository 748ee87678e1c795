// Tables. A cell is text, a node, or {text, sort, best}; the heading of a column sorts by it.
function table(columns, rows, options = {}) {
  const body = html("tbody");
  const value = cell => cell && typeof cell === "object" && "text" in cell ? cell : {text: cell};
  const render = (list, isSorted) => body.replaceChildren(...list.map(
      row => html("tr", {}, row.map((cell, i) => {
        const {text: words, best, title, isRepeated} = value(cell);
        const node = html(
            i === 0 ? "th" : "td", {
              scope: i === 0 ? "row" : null,
              class: [
                columns[i].isText ? "words" : "", best ? "best" : "", isRepeated && !isSorted ? "repeated" : ""
              ].join(" ").trim() ||
                  null
            },
            words);
        return title ? withTip(node, title, false) : node;
      }))));
  let order = null;
  const heads = columns.map((column, i) => {
    const head = html("th", {scope: "col", class: column.isText ? "words" : null});
    const label = column.metric ? metricWord(column.name, column.metric) : column.name;
    if (!options.isSortable) {
      head.append(label);
      return head;
    }
    const button = html("button", {type: "button", class: "sort", "aria-label": `sort by ${column.name}`}, "↕");
    button.addEventListener("click", () => {
      order = order && order.i === i ? {i, sign: -order.sign} : {i, sign: columns[i].isText ? 1 : -1};
      heads.forEach(other => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", order.sign > 0 ? "ascending" : "descending");
      const key = row => {
        const cell = value(row[i]);
        return cell.sort ?? (cell.text === "" ? -Infinity : cell.text);
      };
      render([...rows].sort((a, b) => (key(a) > key(b) ? 1 : key(a) < key(b) ? -1 : 0) * order.sign), true);
    });
    head.append(label, button);
    return head;
  });
  render(rows);
  return html(
      "div", {class: "scroll", tabindex: "0", role: "region", "aria-label": options.label || "Table"},
      html("table", {}, html("thead", {}, html("tr", {}, heads)), body));
}

// The values of a scenario by setting, client and metric: {mean, low, high, count, text, band}.
class Values {
  constructor(scenario) {
    this.of = new Map();
    for (const [setting, client, metric, mean, low, high, count, words, band] of scenario.values)
      this.of.set(`${setting}\n${client}\n${metric}`, {mean, low, high, count, text: words, band});
  }
  get(setting, client, metric) { return this.of.get(`${setting}\n${client}\n${metric}`); }
  mean(setting, client, metric) {
    const found = this.get(setting, client, metric);
    return found ? found.mean : NaN;
  }
}
