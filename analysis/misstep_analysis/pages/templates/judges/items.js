const RIGHT = "right", WRONG = "wrong", NO_GOLD = "no gold label", NOT_ASKED = "not asked";
const TIED = -2;
const MARKS = { [RIGHT]: "✓", [WRONG]: "✗", [NO_GOLD]: "·", [NOT_ASKED]: "" };
const mark_of = outcome => MARKS[outcome] ?? "?";
const kind_of = outcome => outcome === RIGHT || outcome === WRONG ? outcome : "other";

const FIGURES = {
  score: ["score", value => value.toFixed(2)],
  cost_usd: ["cost", money],
};

/** What the index says of each item, as questions. */
class Items {
  constructor(index) {
    Object.assign(this, index);
    this.length = index.ids.length;
    this.has_gold = index.raters.length > 0;
    this.is_triage = index.runs.some(run => run.next_step?.length);
    this.haystacks = index.ids.map((id, place) => [
      id, index.excerpts[place], ...index.runs.flatMap(run => [
        run.rationale[place], run.error[place], run.subcategory[place] ?? "", ...(run.evidence[place] ?? []).flat(),
      ]),
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
    const shown = this.runs[run].label[place] < 0 ? `(${answer})` : answer;
    return this.has_gold ? `${this.gold_of(place)} → ${shown}` : shown;
  }
  /** The label and subcategory of a verdict of triage. */
  fault(run, place) {
    const finer = this.runs[run].subcategory[place];
    return this.answer(run, place) + (finer ? `, ${finer.replaceAll("_", " ")}` : "");
  }
  /** Why a verdict says so: the place and text of its first piece of evidence, or its reasons. */
  why(run, place) {
    const { evidence, rationale, error } = this.runs[run];
    const [first] = evidence[place] ?? [];
    return first ? `${first[1]}: ${first[2]}` : rationale[place] || error[place];
  }
  runs_differ(place) {
    const [first, ...others] = this.runs.filter(run => run.status[place] >= 0);
    return others.some(run => run.label[place] !== first.label[place] || run.status[place] !== first.status[place]);
  }
  raters_differ(place) {
    return new Set(this.ratings.map(given => given[place]).filter(label => label >= 0)).size > 1;
  }
  kinds(run) {
    const kinds = new Map([["", this.length], ...(this.has_gold ? [[WRONG, 0], [RIGHT, 0]] : [])]);
    const add = kind => kind === NO_GOLD && !this.has_gold ? kinds : kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
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
    const words = words_of(q);
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
      : by === "why" ? place => this.why(run, place)
      : by === "next_step" ? place => this.runs[run].next_step[place]
      : by in FIGURES ? place => this.runs[run][by][place]
      : place => this.answer(Number(by), place);
    return sorted(places, key, down);
  }
}
