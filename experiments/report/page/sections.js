const small = words => html("span", {class: "interval"}, words);

// A setting's name, above how it is known what its way of sharing does on the device.
const labelled = setting => setting.basis ? [setting.label, small(setting.basis)] : setting.label;

function resultsTable(scenario, values) {
  const columns = [{name: "rate", metric: null, better: "more"}, ...contents.columns];
  const clients = scenario.clients.filter(isClient);
  const get = (i, client, {metric, of}) => metric === null ?
      values.rate(i, client) :
      of === "device" ?
      (client === clients.find(c => !values.get(i, c, "fps_mean")) ? values.get(i, "device", metric) : undefined) :
      metric === "job_time_p99_ms" && values.get(i, client, "fps_mean") ? undefined :
                                                                          values.get(i, client, metric);
  const hasQuality =
      scenario.settings.some((_, i) => clients.some(client => values.mean(i, client, "quality_mean") < 1));
  const used = columns.filter(
      column => (column.metric !== "quality_mean" || hasQuality) &&
          scenario.settings.some((_, i) => clients.some(client => get(i, client, column))));
  const best = new Map();
  for (const client of clients)
    for (const column of used) {
      if (column.better === "neither" || scenario.settings.length < 2) continue;
      const all = scenario.settings.map((_, i) => get(i, client, column)).filter(Boolean).map(v => v.mean);
      const found = column.better === "less" ? Math.min(...all) : Math.max(...all);
      if (all.some(v => Math.abs(v - found) > 0.005 * Math.abs(found))) best.set(client + column.name, found);
    }
  const cell = (value, client, column) => {
    if (!value) return {text: "", sort: -Infinity};
    const [words, interval] = value.text.split(" [");
    const isBest = best.has(client + column.name) &&
        Math.abs(value.mean - best.get(client + column.name)) <= 0.005 * Math.abs(value.mean);
    return {
      text: [
        html("span", {class: "value"}, words),
        interval && value.high > value.low ? small(`[${interval.replace(",", ", ")}`) : "", small(value.band || "")
      ],
      sort: value.mean,
      best: isBest,
      title: interval ? `mean of ${value.count} runs, 95 % interval [${interval}` : null
    };
  };
  // The points of a sweep may have different clients.
  const isThere = (i, client) => !scenario.settings[i].runs || values.rate(i, client) ||
      values.get(i, client, "gpu_busy_ratio") || values.get(i, client, "refused");
  const absence = (setting, i, client) => !setting.runs ? "failed" :
      values.get(i, client, "refused")                  ? "refused" :
                                                          "nothing counted";
  const lines = scenario.settings.flatMap(
      (setting, i) => clients.filter(client => isThere(i, client))
                          .map((client, k) => [
                            {text: labelled(setting), sort: i, isRepeated: k > 0}, {text: client},
                            ...used.map(column => {
                              if (column.metric === null && !values.rate(i, client))
                                return {text: absence(setting, i, client), sort: -Infinity};
                              return cell(get(i, client, column), client, column);
                            })
                          ]));
  return table(
      [
        {name: "policy", isText: true}, {name: "client", isText: true},
        ...used.map(({name, metric}) => ({name, metric: metric || "throughput_per_s"}))
      ],
      lines, {isSortable: true, label: `Results of ${scenario.name}`});
}

function clusterTable(scenario, values) {
  const metrics = unique(scenario.values.filter(v => v[1] === "cluster").map(v => v[2]));
  if (!metrics.length) return null;
  return table(
      [{name: "policy", isText: true}, ...metrics.map(metric => ({name: metric.replaceAll("_", " "), metric}))],
      scenario.settings.map((setting, i) => [{text: setting.label}, ...metrics.map(metric => {
                              const v = values.get(i, "cluster", metric);
                              return {text: v ? v.text : "–", sort: v ? v.mean : -Infinity};
                            })]),
      {isSortable: true, label: "Cluster"});
}

// They stand at the figures that they are about; the other notes are below.
function warningsOf(scenario) {
  const warnings = scenario.notes.filter(words => words.startsWith("warning: "));
  return warnings.length ? html("ul", {class: "plain"}, warnings.map(words => html("li", {}, words))) : null;
}

const verdictList = verdicts => html(
    "ul", {class: "verdicts"},
    verdicts.map(
        v => html("li", {class: v.holds ? "yes" : "no"}, html("strong", {}, v.holds ? "met: " : "not met: "), v.text)));

const effectsOf = scenario =>
    contents.effects.filter(e => e.scenario === scenario.name && e.backend === scenario.backend).map(e => e.text);
const MOST_SENTENCES = 3, MOST_FAILED = 3;  // on the first screen

// The verdict in a few sentences: expectations as a number, those that fail by name, then what the closing table says.
function verdict() {
  const verdicts = contents.scenarios.flatMap(s => s.verdicts), decided = verdicts.filter(v => v.decides);
  const failed = decided.filter(v => !v.holds), isMany = contents.scenarios.length > 1;
  const said = contents.scenarios.flatMap(s => s.sentences.map(words => html(
      "p", {}, isMany ? [html("a", {href: `#${idOf(s)}`}, s.name), ": "] : "", words)));
  const judged = decided.length && html(
      "p", {},
      html(
          "strong", {},
          failed.length ? `${failed.length} of ${decided.length} expectations are not met.` :
                          `All ${decided.length} expectations are met.`));
  return [
    judged, failed.length ? verdictList(failed.slice(0, MOST_FAILED)) : null, said.slice(0, MOST_SENTENCES),
    said.length > MOST_SENTENCES ?
        more(
            `${said.length - MOST_SENTENCES} more on other scenarios`,
            () => html("div", {}, said.slice(MOST_SENTENCES))) :
        null
  ].flat().filter(Boolean);
}
function effects(scenario) {
  const texts = effectsOf(scenario), isMany = contents.scenarios.length > 1;
  if (!texts.length) return null;
  const summary = `${counted(texts.length, "effect")} against ${contents.baseline}, paired by seed`;
  return more(
      isMany ? `${scenario.name}: ${summary}` : summary,
      () => html("ul", {class: "plain"}, texts.map(words => html("li", {}, words))));
}

// Whose figure the first screen shows first: a scenario that has two goals, if there is one.
const firstShown = contents.scenarios.find(s => hasTradeOff(s, new Values(s))) || contents.scenarios[0];

// The first screen: the verdict, what every client keeps, and one figure; all else is below.
function answer() {
  const all = contents.scenarios.map(scenario => ({scenario, values: new Values(scenario)}));
  const verdicts = contents.scenarios.flatMap(s => s.verdicts);
  const place = html("div", {class: "main-figure"});
  const show = ({scenario, values}) => {
    const main = tradeOffFigure(scenario, values) || ratesFigure(scenario, values);
    place.replaceChildren(...[keptTable(scenario, values), main].filter(Boolean));
    paintSwatches();
  };
  show(all.find(({scenario}) => scenario === firstShown));
  const several = all.length > 1 &&
      html(
          "div", {class: "controls"},
          choice(
              "figure and % kept of", all.map(({scenario}) => scenario.name), contents.scenarios.indexOf(firstShown),
              i => show(all[i])));
  return html(
      "section", {class: "answer", id: "answer"}, html("h2", {}, "What was found"), verdict(), several || "", place,
      verdicts.length ? more(counted(verdicts.length, "expectation"), () => verdictList(verdicts)) : "",
      contents.scenarios.map(effects));
}

const idOf = scenario => `scenario-${contents.scenarios.indexOf(scenario) + 1}`;
const WHERE = {simulation: "simulated", gpu: "measured on the GPU", live: "measured, live"};
function scenarioSection(scenario) {
  const values = new Values(scenario), seeds = scenario.seeds ? scenario.seeds.split(" ").length : 0;
  const clients = scenario.clients.filter(isClient), {settings} = scenario;
  const isFirst = scenario === firstShown, isOnTop = isFirst && !hasTradeOff(scenario, values);
  const results = () =>
      html("div", {}, resultsTable(scenario, values), html("p", {class: "soft"}, scenario.bands || ""));
  return html(
      "section", {id: idOf(scenario)}, html("h2", {}, scenario.name),
      html(
          "p", {class: "overview"},
          `${counted(clients.length, "client")} on ${scenario.device}, ` +
              `${WHERE[scenario.backend] || scenario.backend}; ${counted(settings.length, "setting")}, ` +
              `${counted(seeds, "seed")}; ${duration(scenario.horizon_ms)} each, of which ` +
              `${duration(scenario.warmup_ms)} warm-up are left out.`),
      warningsOf(scenario),
      clients.length ? more(`All figures of ${counted(settings.length, "setting")}`, results) : null,
      clusterTable(scenario, values),
      settings.length > scenario.detailed ?
          html(
              "p", {class: "soft"},
              `Figures made of single frames show the first ${scenario.detailed} of ${settings.length} settings.`) :
          null,
      isFirst ? null : tradeOffFigure(scenario, values), isOnTop ? null : ratesFigure(scenario, values),
      sensitivityFigure(scenario, values), distributionFigure(scenario, values), coursesFigure(scenario, values),
      partsFigure(scenario, values), timelineFigure(scenario), deviceFigure(scenario, values),
      fairness(scenario, values), decisionsTable(scenario),
      scenario.notes.length ?
          more(
              `${counted(scenario.notes.length, "note")} on what was assumed`,
              () => html("ul", {class: "plain"}, scenario.notes.map(words => html("li", {}, words)))) :
          null);
}

function provenance() {
  const term = (name, ...value) => [html("dt", {}, name), html("dd", {}, ...value)];
  const all = contents.scenarios, events = sum(all.flatMap(s => s.settings.map(t => t.events)));
  const node = html(
      "section", {id: "provenance"}, html("h2", {}, "Where this comes from"),
      html(
          "dl", {},
          term(
              "files",
              contents.files.map(
                  file =>
                      html("div", {}, `${file.name} (${file.experiments.join(", ")}) `, html("code", {}, file.hash)))),
          term("engine", contents.versions.join(", ")),
          term(
              "runs",
              `${sum(all.flatMap(s => s.settings.map(t => t.runs)))} of ` +
                  `${sum(all.flatMap(s => s.settings.map(t => t.runs + t.failed)))} went well; ` +
                  `${events.toLocaleString("en")} events`),
          term("seeds", all.map(s => html("div", {}, `${s.name}: ${s.seeds || "–"}`))),
          term(
              "inputs (XXH3-128)",
              all.map(s => html("div", {}, `${s.name}: `, html("code", {}, s.traces || "no captures")))),
          term("this report", html("code", {}, contents.command))));
  const parameters = all.flatMap(
      s => s.settings.filter(t => t.parameters).map(t => [s.name, t.label, t.parameters]));
  for (const experiment of contents.experiments)
    node.append(
        html("h3", {}, `Experiment ${experiment.name}`), html("p", {}, experiment.description),
        html("p", {}, "Run it again: ", html("code", {}, experiment.again)),
        more(`${experiment.file}, sha256 ${experiment.sha256}`, () => html("pre", {}, experiment.text)));
  if (parameters.length)
    node.append(more(
        "Parameters of the policies, with defaults",
        () => table(["scenario", "setting", "parameters"].map(name => ({name, isText: true})), parameters)));
  return node;
}

const paintSwatches = () => document.querySelectorAll("canvas.swatch").forEach(canvas => canvas.paint());
const allFigures = () => [...document.querySelectorAll("figure")];
function themeButton() {
  const set = name => {
    document.documentElement.dataset.theme = name;
    button.textContent = name === "dark" ? "Light" : "Dark";
    takeColours();
    allFigures().forEach(node => node.redraw());
    paintSwatches();
  };
  const button = html("button", {type: "button", class: "theme", "aria-label": "Switch between light and dark"});
  button.addEventListener("click", () => set(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
  set(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  let before = "";
  addEventListener("beforeprint", () => {
    before = document.documentElement.dataset.theme;
    set("light");
    allFigures().forEach(node => node.draw());
  });
  addEventListener("afterprint", () => set(before));
  return button;
}

const KEYS = "In figures: a drag zooms and so does the wheel after a click; arrow keys walk through marks, + − 0 " +
    "zoom, Shift with arrows moves.";
function header() {
  const title = unique(contents.files.flatMap(file => file.experiments)).join(", ");
  document.title = `${title} – Corun report`;
  const sections = [
    ...contents.scenarios.map(s => [`#${idOf(s)}`, s.name]),
    ...contents.validation.length ? [["#validation", "Predictions against measurements"]] : [],
    ["#provenance", "Where this comes from"]
  ];
  return [
    html(
        "header", {}, html("div", {class: "line"}, html("h1", {}, title), themeButton()),
        contents.experiments.map(experiment => html("p", {class: "soft"}, experiment.description))),
    html("nav", {"aria-label": "Sections"}, sections.map(([href, name]) => html("a", {href}, name)))
  ];
}
function build() {
  const [top, nav] = header();
  const warnings = contents.warnings.length && html(
      "section", {class: "answer warnings"}, html("h3", {}, "Before you rely on this"),
      html("ul", {class: "plain"}, contents.warnings.map(words => html("li", {}, words))));
  document.body.append(tip);
  document.getElementById("report").replaceChildren(
      top, answer(), warnings || "", nav, html("p", {class: "soft", id: "keys"}, KEYS),
      ...contents.scenarios.map(scenarioSection),
      contents.validation.length ?
          html("section", {id: "validation"}, html("h2", {}, "Predictions against measurements"), validationFigure()) :
          "",
      provenance());
  paintSwatches();
}
build();
