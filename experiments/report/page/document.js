"use strict";
// The page is built from `contents` alone. Texts become text nodes or attributes, never markup.
const contents = JSON.parse(document.getElementById("contents").textContent);

function html(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter(child => child !== null && child !== undefined && child !== ""));
  return node;
}
const numbers = text => text === "" ? [] : text.split(" ").map(Number);
const sum = list => list.reduce((a, b) => a + b, 0);
const unique = list => [...new Set(list)];
const counted = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
const shortened = (words, most) => words.length > most ? words.slice(0, most - 1) + "…" : words;

// What is closed at first, and made when it is opened: long tables cost nothing until then.
function more(summary, make, isOpen = false) {
  const node = html("details", {}, html("summary", {}, summary));
  const fill = () => {
    if (node.children.length === 1) node.append(make());
  };
  node.addEventListener("toggle", fill);
  if (isOpen) {
    fill();
    node.open = true;
  }
  return node;
}

// One tip for the whole page: shown by mouse and by keyboard, and said to screen readers.
const tip = html("div", {class: "tip", role: "status", hidden: true});
function showTip(text, x, y) {
  tip.textContent = text;
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(4, Math.min(x + 12, innerWidth - box.width - 8))}px`;
  tip.style.top = `${y + 16 + box.height > innerHeight ? y - box.height - 10 : y + 16}px`;
}
const hideTip = () => {
  tip.hidden = true;
};
function withTip(node, text, isFocusable) {
  node.setAttribute("aria-label", text);
  if (isFocusable) node.setAttribute("tabindex", "0");
  node.addEventListener("mousemove", event => showTip(text, event.clientX, event.clientY));
  node.addEventListener("mouseleave", hideTip);
  node.addEventListener("focus", () => {
    const box = node.getBoundingClientRect();
    showTip(text, box.left + box.width / 2, box.top + box.height / 2);
  });
  node.addEventListener("blur", hideTip);
  return node;
}
document.addEventListener("keydown", event => {
  if (event.key === "Escape") hideTip();
});

// What a metric means, from the table of metrics.
function metricWord(text, metric) {
  const meaning = contents.metrics[metric];
  if (!meaning) return text;
  return withTip(html("span", {class: "explained"}, text), `${metric}: ${meaning}`, true);
}

function number(value, digits = 3) {
  if (value === null || value === undefined || !isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-3) return value.toExponential(1);
  return String(size >= 1000 ? Math.round(value) : Number(value.toPrecision(digits)));
}
const percent = part => isFinite(part) ? `${number(part * 100)} %` : "–";
function duration(ms) {
  if (ms === null || !isFinite(ms)) return "–";
  if (Math.abs(ms) >= 1000) return `${number(ms / 1000)} s`;
  return Math.abs(ms) >= 0.1 || ms === 0 ? `${number(ms)} ms` : `${number(ms * 1000)} µs`;
}
