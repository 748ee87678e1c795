// Scales: from values to pixels, with ticks.
function linear(low, high, from, to) {
  if (!(high > low)) high = low + (Math.abs(low) || 1);
  const scale = value => from + (value - low) / (high - low) * (to - from);
  scale.invert = pixel => low + (pixel - from) / (to - from) * (high - low);
  scale.ticks = count => {
    const rough = (high - low) / count, power = 10 ** Math.floor(Math.log10(rough));
    const step = power * [1, 2, 5, 10].find(factor => power * factor >= rough * 0.999);
    const ticks = [];
    for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; ++i)
      ticks.push(Number((i * step).toPrecision(12)));
    return ticks;
  };
  return Object.assign(scale, {low, high});
}
function logarithmic(low, high, from, to) {
  if (!(high > low)) {
    low /= 1.5;
    high = low * 2.25;
  }
  const base = linear(Math.log10(low), Math.log10(high), from, to);
  const scale = value => base(Math.log10(Math.max(value, low * 1e-3)));
  scale.invert = pixel => 10 ** base.invert(pixel);
  scale.ticks = count => {
    const all = [];
    for (let p = Math.floor(Math.log10(low)); p <= Math.log10(high); ++p)
      for (const factor of [1, 2, 5]) all.push(Number((factor * 10 ** p).toPrecision(3)));
    const inside = all.filter(t => t >= low * 0.999 && t <= high * 1.001);
    if (inside.length <= count) return inside.length >= 2 ? inside : [low, high].map(v => Number(v.toPrecision(2)));
    const halves = inside.length > count ? [...Array(40).keys()]
                                               .flatMap(p => [10 ** (p - 12), 3 * 10 ** (p - 12)])
                                               .map(t => Number(t.toPrecision(3)))
                                               .filter(t => t >= low * 0.999 && t <= high * 1.001) :
                                           [];
    if (halves.length >= 2 && halves.length <= count) return halves;
    const tens = inside.filter(t => Math.abs(Math.log10(t) % 1) < 1e-9);
    return tens.length >= 2 ? tens : inside;
  };
  return Object.assign(scale, {low, high});
}
// A look is a number: the colours of the palette, then the same with other dashes. Marks differ, too: colour is never
// the only difference. Settings come with their look, which follows their policy; clients have their places.
const DASHES = ["", "6 3", "2 3", "9 3 2 3"];
const color = i => `var(--c${i % contents.colours})`;
const clientColor = k => color(contents.client_looks[k % contents.client_looks.length]);
const dash = i => DASHES[Math.floor(i / contents.colours) % DASHES.length];
function mark(i, x, y, s = 5) {
  const shapes = [
    () => `M${x - s},${y}a${s},${s} 0 1 0 ${2 * s},0a${s},${s} 0 1 0 ${-2 * s},0Z`,
    () => `M${x - s},${y - s}h${2 * s}v${2 * s}h${-2 * s}Z`,
    () => `M${x},${y - 1.2 * s}l${1.15 * s},${2.1 * s}h${-2.3 * s}Z`,
    () => `M${x},${y - 1.3 * s}l${1.3 * s},${1.3 * s}l${-1.3 * s},${1.3 * s}l${-1.3 * s},${-1.3 * s}Z`,
    () => `M${x},${y + 1.2 * s}l${1.15 * s},${-2.1 * s}h${-2.3 * s}Z`,
    () => `M${x - 0.45 * s},${y - 1.2 * s}h${0.9 * s}v${0.75 * s}h${0.75 * s}v${0.9 * s}h${-0.75 * s}v${0.75 * s}` +
        `h${-0.9 * s}v${-0.75 * s}h${-0.75 * s}v${-0.9 * s}h${0.75 * s}Z`,
    () => `M${x - s},${y - 1.1 * s}h${2 * s}l${-2 * s},${2.2 * s}h${2 * s}Z`,
    () => `M${x - 1.1 * s},${y - s}v${2 * s}l${2.2 * s},${-2 * s}v${2 * s}Z`
  ];
  return svg("path", {d: shapes[i % shapes.length](), fill: color(i), class: "mark"});
}
