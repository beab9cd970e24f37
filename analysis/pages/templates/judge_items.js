const RIGHT = "right", WRONG = "wrong", NO_GOLD = "no gold label", NOT_ASKED = "not asked";
const TIED = -2;
const MARKS = { [RIGHT]: "✓", [WRONG]: "✗", [NO_GOLD]: "·", [NOT_ASKED]: "" };
const mark_of = outcome => MARKS[outcome] ?? "?";
const kind_of = outcome => outcome === RIGHT || outcome === WRONG ? outcome : "other";
const count = new Intl.NumberFormat("en").format;
const plural = (n, word) => `${count(n)} ${word}${n === 1 ? "" : "s"}`;

const make = (tag, attributes, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (name === "on") for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(2).filter(child => child !== "" && child !== null && child !== undefined));
  return element;
};
const said = text => make("bdi", null, text);

async function read(id) {
  const given = JSON.parse(document.getElementById(id).textContent);
  if (typeof given !== "string") return given;
  const bytes = Uint8Array.from(atob(given), letter => letter.charCodeAt(0));
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(unpacked).text());
}

const money = value => value === 0 ? "$0" : value < 0.01 ? `$${value.toPrecision(2)}` : `$${value.toFixed(2)}`;
const FIGURES = {
  score: ["score", value => value.toFixed(2)],
  cost_usd: ["cost", money],
};

/** What the index says of each item, as questions. */
class Items {
  constructor(index) {
    Object.assign(this, index);
    this.length = index.ids.length;
    this.haystacks = index.ids.map((id, place) => [
      id, index.excerpts[place], ...index.runs.flatMap(run => [run.rationale[place], run.error[place]]),
    ].join("\n").toLowerCase());
  }
  gold_of(place) {
    return this.gold[place] >= 0 ? this.labels[this.gold[place]] : this.gold[place] === TIED ? "(tie)" : "(none)";
  }
  answer(run, place) {
    const { label, status } = this.runs[run];
    return status[place] < 0 ? NOT_ASKED : label[place] < 0 ? this.statuses[status[place]] : this.labels[label[place]];
  }
  outcome(run, place) {
    const { label, status } = this.runs[run];
    if (status[place] < 0) return NOT_ASKED;
    if (label[place] < 0) return this.statuses[status[place]];
    if (this.gold[place] < 0) return NO_GOLD;
    return label[place] === this.gold[place] ? RIGHT : WRONG;
  }
  pair(run, place) {
    const answer = this.answer(run, place);
    return `${this.gold_of(place)} → ${this.runs[run].label[place] < 0 ? `(${answer})` : answer}`;
  }
  runs_differ(place) {
    const [first, ...others] = this.runs.filter(run => run.status[place] >= 0);
    return others.some(run => run.label[place] !== first.label[place] || run.status[place] !== first.status[place]);
  }
  raters_differ(place) {
    return new Set(this.ratings.map(given => given[place]).filter(label => label >= 0)).size > 1;
  }
  kinds(run) {
    const kinds = new Map([["", this.length], [WRONG, 0], [RIGHT, 0]]);
    const add = kind => kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    for (let place = 0; place < this.length; place++) {
      add(this.outcome(run, place));
      if (this.runs_differ(place)) add("runs differ");
      if (this.raters_differ(place)) add("raters differ");
    }
    return kinds;
  }
  pairs(run) {
    const pairs = new Map();
    for (let place = 0; place < this.length; place++) {
      const pair = this.pair(run, place);
      pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
    }
    return [...pairs].sort((a, b) => b[1] - a[1]);
  }
  is(kind, run, place) {
    if (kind === "runs differ") return this.runs_differ(place);
    if (kind === "raters differ") return this.raters_differ(place);
    return this.outcome(run, place) === kind;
  }
  select({ run, show, pair, q, sort, down }) {
    const words = q.toLowerCase().split(/\s+/).filter(Boolean);
    const found = [];
    for (let place = 0; place < this.length; place++) {
      if (show && !this.is(show, run, place)) continue;
      if (pair && this.pair(run, place) !== pair) continue;
      if (words.every(word => this.haystacks[place].includes(word))) found.push(place);
    }
    return sort ? this.sorted(found, run, sort, down) : found;
  }
  sorted(places, run, by, down) {
    const key = by === "item" ? place => this.ids[place]
      : by === "gold" ? place => this.gold_of(place)
      : by in FIGURES ? place => this.runs[run][by][place]
      : place => this.answer(Number(by), place);
    const keyed = places.map(place => [key(place), place]);
    const order = new Intl.Collator("en", { numeric: true }).compare;
    const turn = down ? -1 : 1;
    keyed.sort(([a, first], [b, second]) =>
      a === null || b === null ? (a === null) - (b === null) || first - second
      : turn * (typeof a === "number" ? a - b : order(a, b)) || first - second);
    return keyed.map(([, place]) => place);
  }
}
