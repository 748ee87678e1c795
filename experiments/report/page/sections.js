const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

const small = words => html("span", {class: "interval"}, words);

function resultsTable(scenario, values) {
  const columns = [{name: "rate", metric: null, better: "more"}, ...contents.columns];
  const clients = scenario.clients.filter(isClient);
  const get = (i, client, {metric, of}) => metric === null ?
      rateOf(values, i, client) :
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
  const isThere = (i, client) => !scenario.settings[i].runs || rateOf(values, i, client) ||
      values.get(i, client, "gpu_busy_ratio") || values.get(i, client, "refused");
  const absence = (setting, i, client) => !setting.runs ? "failed" :
      values.get(i, client, "refused")                  ? "refused" :
                                                          "nothing counted";
  const lines = scenario.settings.flatMap(
      (setting, i) => clients.filter(client => isThere(i, client))
                          .map((client, k) => [
                            {text: setting.label, sort: i, isRepeated: k > 0}, {text: client},
                            ...used.map(column => {
                              if (column.metric === null && !rateOf(values, i, client))
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

const verdictList = verdicts => verdicts.length ?
    html(
        "ul", {class: "verdicts"},
        verdicts.map(
            v => html(
                "li", {class: v.holds ? "yes" : "no"}, html("strong", {}, v.holds ? "met: " : "not met: "), v.text))) :
    null;

function answer() {
  const verdicts = contents.scenarios.flatMap(scenario => scenario.verdicts), decided = verdicts.filter(v => v.decides);
  const box = html("section", {class: "answer", id: "answer"}, html("h3", {}, "What was found"));
  if (decided.length)
    box.append(html(
        "p", {},
        html(
            "strong", {},
            decided.every(v => v.holds) ?
                `All ${decided.length} expectations are met.` :
                `${decided.filter(v => !v.holds).length} of ${decided.length} expectations are not met.`)));
  for (const scenario of contents.scenarios) {
    const effects =
        contents.effects.filter(e => e.scenario === scenario.name && e.backend === scenario.backend).map(e => e.text);
    if (!scenario.sentences.length && !scenario.verdicts.length && !effects.length) continue;
    if (contents.scenarios.length > 1)
      box.append(html("h3", {}, html("a", {href: `#${idOf(scenario)}`}, scenario.name)));
    box.append(
        ...[verdictList(scenario.verdicts)].filter(Boolean), ...scenario.sentences.map(words => html("p", {}, words)));
    const isAll = !scenario.sentences.length && !scenario.verdicts.length;
    if (effects.length)
      box.append(html(
          "details", {open: isAll ? "" : null},
          html("summary", {}, `${counted(effects.length, "effect")} against ${contents.baseline}, paired by seed`),
          html("ul", {class: "plain"}, effects.map(words => html("li", {}, words)))));
  }
  return box.children.length > 1 ? box : null;
}

const idOf = scenario => `scenario-${contents.scenarios.indexOf(scenario) + 1}`;
function scenarioSection(scenario) {
  const values = new Values(scenario), seeds = scenario.seeds ? scenario.seeds.split(" ").length : 0;
  const where = scenario.backend === "simulation" ? "simulated" :
      scenario.backend === "gpu"                  ? "measured on the GPU" :
      scenario.backend === "live"                 ? "measured, live" :
                                                    scenario.backend;
  return html(
      "section", {id: idOf(scenario)}, html("h2", {}, scenario.name),
      html(
          "p", {class: "overview"},
          `${counted(scenario.clients.filter(isClient).length, "client")} on ` +
              `${scenario.device}, ${where}; ${counted(scenario.settings.length, "setting")}, ` +
              `${counted(seeds, "seed")}; ${duration(scenario.horizon_ms)} each, of which ` +
              `${duration(scenario.warmup_ms)} warm-up are left out.`),
      scenario.clients.some(isClient) ? resultsTable(scenario, values) : null, clusterTable(scenario, values),
      scenario.bands ? html("p", {class: "soft"}, scenario.bands) : null,
      warningsOf(scenario),
      scenario.settings.length > scenario.detailed ?
          html(
              "p", {class: "soft"},
              `Figures made of single frames show the first ${scenario.detailed} of ` +
                  `${scenario.settings.length} settings.`) :
          null,
      tradeOffFigure(scenario, values), ratesFigure(scenario, values), sensitivityFigure(scenario, values),
      distributionFigure(scenario, values), coursesFigure(scenario, values), partsFigure(scenario, values),
      lateFigure(scenario), deviceFigure(scenario, values), fairness(scenario, values), decisionsTable(scenario),
      scenario.notes.length ?
          html(
              "details", {}, html("summary", {}, `${counted(scenario.notes.length, "note")} on what was assumed`),
              html("ul", {class: "plain"}, scenario.notes.map(words => html("li", {}, words)))) :
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
      s => s.settings.filter(t => t.parameters).map(t => [{text: s.name}, {text: t.label}, {text: t.parameters}]));
  for (const experiment of contents.experiments)
    node.append(
        html("h3", {}, `Experiment ${experiment.name}`), html("p", {}, experiment.description),
        html("p", {}, "Run it again: ", html("code", {}, experiment.again)),
        html(
            "details", {}, html("summary", {}, `${experiment.file}, sha256 ${experiment.sha256}`),
            html("pre", {}, experiment.text)));
  if (parameters.length)
    node.append(html(
        "details", {}, html("summary", {}, "Parameters of the policies, with defaults"),
        table(
            [{name: "scenario", isText: true}, {name: "setting", isText: true}, {name: "parameters", isText: true}],
            parameters)));
  return node;
}

function themeButton() {
  const set = name => {
    document.documentElement.dataset.theme = name;
    button.textContent = name === "dark" ? "Light" : "Dark";
  };
  const button = html("button", {type: "button", class: "theme", "aria-label": "Switch between light and dark"});
  button.addEventListener("click", () => set(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
  set(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  let before = "";
  addEventListener("beforeprint", () => {
    before = document.documentElement.dataset.theme;
    set("light");
    document.querySelectorAll("figure").forEach(f => f.redraw());
  });
  addEventListener("afterprint", () => set(before));
  return button;
}

const names = unique(contents.files.flatMap(file => file.experiments)), title = names.join(", ");
document.title = `${title} – Corun report`;
document.getElementById("report").replaceChildren(
    ...[html(
            "header", {}, html("div", {class: "line"}, html("h1", {}, title), themeButton()),
            contents.experiments.map(experiment => html("p", {}, experiment.description)),
            html(
                "nav", {"aria-label": "Sections"},
                contents.scenarios.map(s => html("a", {href: `#${idOf(s)}`}, s.name)),
                contents.validation.length ? html("a", {href: "#validation"}, "Predictions against measurements") :
                                             null,
                html("a", {href: "#provenance"}, "Where this comes from"))),
        answer(),
        contents.warnings.length ?
            html(
                "section", {class: "answer warnings"}, html("h3", {}, "Before you rely on this"),
                html("ul", {class: "plain"}, contents.warnings.map(words => html("li", {}, words)))) :
            null,
        ...contents.scenarios.map(scenarioSection),
        contents.validation.length ?
            html(
                "section", {id: "validation"}, html("h2", {}, "Predictions against measurements"), validationFigure()) :
            null,
        provenance()]
        .filter(Boolean));
document.body.append(tip);
document.querySelectorAll("figure").forEach(node => node.redraw());
