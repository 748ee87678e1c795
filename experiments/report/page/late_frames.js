// One late frame at a time: what is known of why, and what went on around it.
const rows = (words, count) => words === "" ?
    [] :
    words.trimEnd().split("\n").map(row => row.split("\t").map((field, i) => i < count ? Number(field) / 1000 : field));

const MOST_WENT = [
  "before the frame's host began: the game itself, or waiting for the frame before", "by at its host", "by waiting",
  "into the frame's own work on the device", "to others on the device",
  "by between the end of its work and the present"
];

function why(label, run, frame) {
  const parts = numbers(frame.parts).map(us => us / 1000), longest = parts.indexOf(Math.max(...parts));
  const said = parts.map((ms, i) => [ms, i])
                   .filter(([ms]) => ms >= 0.01 * frame.us / 1000)
                   .map(([ms, i]) => `${duration(ms)} ${PARTS[i]}`);
  let words = `Under ${label} (seed ${run.seed}), ${frame.client} showed frame ${frame.number} at ` +
      `${duration(frame.present_us / 1000)}, ${duration(frame.us / 1000)} after the one before: ` +
      `${said.join("; ")}. Most of it went ${MOST_WENT[longest]}.`;
  if (frame.rule)
    words += ` Meanwhile its gate was closed for ${duration(frame.held_us / 1000)} ` +
        `by the rule “${frame.rule}”.`;
  else if (!frame.is_recorded)
    words += " What was decided then was not recorded (raise decisions in record: to see more).";
  else words += " Its gate held nothing back meanwhile.";
  return words;
}

function drawSurroundings(frame, width) {
  const frames = rows(frame.frames, 4), holds = rows(frame.holds, 2), decisions = rows(frame.decisions, 1),
        operations = rows(frame.operations, 2);
  const clients = unique([
    frame.client, ...frames.map(f => f[4]), ...holds.map(h => h[2]), ...operations.map(o => o[2]),
    ...decisions.map(d => d[1])
  ]);
  const room = nameRoom(clients, width), lane = 62, total = frame.length_us / 1000, bottom = clients.length * lane + 8;
  const x = linear(0, total, room, width - 12), inside = ms => Math.max(room, Math.min(width - 12, x(ms)));
  const parts = [], chosenEnd = (frame.present_us - frame.begin_us) / 1000;
  const block = (a, b, y, height, attributes, words) => withTip(
      svg("rect", {x: inside(a), y, width: Math.max(0.8, inside(b) - inside(a)), height, ...attributes}), words);
  parts.push(svg("rect", {
    x: inside(chosenEnd - frame.us / 1000),
    y: 0,
    width: inside(chosenEnd) - inside(chosenEnd - frame.us / 1000),
    height: bottom,
    class: "chosen"
  }));
  clients.forEach((client, k) => {
    const y = k * lane + 8;
    parts.push(
        text(room - 8, y + 26, fits(client, room), {"text-anchor": "end", class: "name"}),
        line(room, y + lane - 8, width - 12, y + lane - 8, {class: "grid"}));
    frames.filter(f => f[4] === client).forEach(([start, begin, end, present, , n]) => {
      parts.push(block(
          start, present, y, 16, {class: "frame-box"},
          `${client}, frame ${n}: ${duration(present - start)} from its start to its present`));
      if (end > begin)
        parts.push(block(
            begin, end, y + 18, 14, {fill: clientColor(k)},
            `${client}, frame ${n}: ${duration(end - begin)} from begin to end of its work on ` +
                "the device"));
      if (inside(present) - inside(start) > 30) parts.push(text(inside(start) + 4, y + 12, n, {class: "note"}));
    });
    operations.filter(o => o[2] === client)
        .forEach(
            ([begin, end, , name]) => parts.push(
                block(begin, end, y + 18, 14, {fill: clientColor(k)}, `${client}: ${name}, ${duration(end - begin)}`)));
    holds.filter(h => h[2] === client)
        .forEach(
            ([begin, end, , rule]) => parts.push(block(
                begin, end, y + 35, 9, {class: "hold"},
                `${client} held at its gate for ${duration(end - begin)}: ${rule}`)));
    decisions.filter(d => d[1] === client)
        .forEach(
            ([at, , action]) => parts.push(withTip(
                line(x(at), y + 44, x(at), y + 52, {stroke: clientColor(k), "stroke-width": 1.5}),
                `${duration(at + frame.begin_us / 1000)}: ${action} ${client}`)));
  });
  const clock = linear(frame.begin_us / 1e6, (frame.begin_us + frame.length_us) / 1e6, room, width - 12);
  clock.ticks(width / 110).forEach(
      t => parts.push(text(clock(t), bottom + 16, `${t} s`, {class: "tick", "text-anchor": "middle"})));
  return {height: bottom + 24, parts};
}

function lateFigure(scenario) {
  const late = scenario.late.filter(run => run.frames.length);
  if (!late.length) return null;
  const labels = scenario.settings.map(s => s.label);
  const longest = run => Math.max(...run.frames.map(f => f.us));
  let setting = late.indexOf([...late].sort((a, b) => longest(b) - longest(a))[0]), index = 0, node = null;
  const buttons = html("div", {class: "controls frames", role: "group", "aria-label": "Late frames"}),
        words = html("p", {class: "why", "aria-live": "polite"});
  const refresh = isDrawn => {
    const run = late[setting];
    buttons.replaceChildren(...run.frames.map((frame, i) => {
      const button = html(
          "button", {type: "button", "aria-pressed": i === index ? "true" : "false"},
          `${frame.client} #${frame.number}: ` +
              `${duration(frame.us / 1000)}${frame.rule ? `, ${frame.rule}` : ""}`);
      button.addEventListener("click", () => {
        index = i;
        refresh(true);
        buttons.children[i].focus();
      });
      return button;
    }));
    words.textContent = why(labels[run.setting], run, run.frames[index]);
    if (isDrawn) node.redraw();
  };
  refresh(false);
  const controls = [
    html(
        "div", {class: "controls"},
        choice(
            "setting", late.map(run => labels[run.setting]), setting,
            i => {
              setting = i;
              index = 0;
              refresh(true);
            })),
    buttons, words
  ];
  node = figure(
      "late", "Why was this frame late?",
      "Outlines: frames from their start to their present. Bars: work on the device, from " +
          "begin to end. Grey: held at the gate. Ticks: decisions. Work of clients without " +
          "frames is known where operations are recorded. The shaded stretch is the frame time " +
          "in question. The whole run as a timeline: simcli view.",
      width => drawSurroundings(late[setting].frames[index], width), {controls});
  return node;
}
