const LOOKS = { solved: "right", unsolved: "wrong", passed: "right", failed: "wrong" };
const look_of = answer => LOOKS[answer] ?? "other";

/** The attempts of runs of repairs, each with its patch, what its validators said and its trajectory. */
class Attempts extends Listing {
  constructor(section, index) {
    const start = { outcome: "", run: "", setting: "", ended: "", signal: "", q: "", sort: "", down: false };
    super(section, { noun: "attempt", names: index.id, start });
    this.index = index;
    this.haystacks = index.id.map((id, place) => `${id}\n${index.error[place]}`.toLowerCase());
    this.values = {
      outcome: place => [index.outcomes[index.outcome[place]]],
      run: place => [index.runs[index.run[place]]],
      setting: place => [index.setting[place]],
      ended: place => [index.ended[place]],
      signal: place => index.signals[place],
    };
    const any = { outcome: "Any outcome", run: "Any run", setting: "Any setting", ended: "Ended in any way", signal: "Any signal" };
    const filters = this.choices_of(any, (_, values) => values.sort(([a], [b]) => order(a, b)));
    this.keys = {
      ...Object.fromEntries(Object.keys(any).map(name => [name, place => this.values[name](place).join(", ")])),
      attempt: place => index.id[place],
      iterations: place => index.iterations[place],
      seconds: place => index.seconds[place],
    };
    this.build({
      search: "Search case, error",
      filters,
      columns: [
        { name: "attempt", words: "attempt", width: "minmax(10rem, 3fr)", kind: "item" },
        { name: "run", words: "run", width: "minmax(6rem, 1fr)" },
        { name: "outcome", words: "outcome", width: "7rem" },
        { name: "ended", words: "ended", width: "minmax(6rem, 1fr)", kind: "extra" },
        { name: "iterations", words: "iterations", width: "5.5rem", kind: "figure" },
        { name: "seconds", words: "seconds", width: "5.5rem", kind: "figure" },
        { name: "signal", words: "signals", width: "minmax(7rem, 2fr)", kind: "extra" },
      ],
      narrowest: 56,
      aside: "What came of it",
    });
  }

  first_falls(name) {
    return name === "iterations" || name === "seconds";
  }

  select(state) {
    return this.chosen(state);
  }

  cells(place) {
    const { index } = this;
    const cell = (kind, ...content) => make("div", { role: "gridcell", class: kind }, content);
    const [outcome] = this.values.outcome(place);
    const told = index.signals[place].filter(one => !one.endsWith(": passed")).join(", ");
    return [
      cell("item", said(index.id[place])), cell("", said(this.values.run(place)[0])),
      cell(`verdict ${look_of(outcome)}`, outcome), cell("extra", said(index.ended[place])),
      cell("figure", count(index.iterations[place])), cell("figure", String(Number(index.seconds[place].toPrecision(3)))),
      cell("extra", said(told || (index.signals[place].length ? "all passed" : ""))),
    ];
  }

  aside(place) {
    const { index } = this;
    return [
      make("p", null, make("b", null, this.values.outcome(place)[0])),
      index.error[place] ? make("p", { class: "small" }, make("b", null, "Error: "), said(index.error[place])) : "",
    ];
  }

  async about(place, aside) {
    const view = await this.part(this.index.piece[place]);
    if (!view) return [make("p", { class: "small" }, "This page holds neither a patch nor a trajectory of this attempt.")];
    aside.append(facts(view.facts), ...(view.signals ?? []).map(signal => make("section", null,
      make("h3", null, said(signal.validator)),
      make("p", { class: `verdict ${look_of(signal.answer)}` },
        signal.answer, signal.score === undefined ? "" : ` (${signal.score.toFixed(2)})`), passage(signal.text))));
    return [
      make("h3", null, "Patch"),
      view.patch?.start ? passage({ ...view.patch, is_open: true }) : make("p", { class: "small" }, "No patch."),
      ...(view.run ? run_shown(view.run, new Map(), { title: "Trajectory" }) : [make("p", { class: "small" }, "The trajectory is not on record.")]),
    ];
  }
}

list_sections("#attempts", (section, index) => new Attempts(section, index));
