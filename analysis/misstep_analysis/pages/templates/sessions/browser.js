const NEW = "new since the last look";
const SUB_AGENT = "sub-agents' runs", OWN = "sessions";

/** A word as a shell takes it. */
const quoted = word => /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`;

/** The flagged sessions of a run of `classify`, each with what was found in it and its steps. */
class FlaggedSessions extends JudgedRuns {
  constructor(section, index) {
    const start = { show: "", project: "", model: "", agent: "", week: "", kind: "", q: "", sort: "", down: false };
    super(section, index, { noun: "session", start });
    this.values = {
      project: place => [index.projects[index.project[place]]],
      model: place => [index.models[index.model[place]]],
      agent: place => [index.agents[index.agent[place]]],
      week: place => [index.weeks[index.week[place]]],
      kind: place => [index.parent[place] ? SUB_AGENT : OWN],
    };
    this.keys = {
      session: place => this.title_of(place),
      found: place => this.found_in(place).join(", "),
      reason: place => this.reason_of(place),
      project: place => this.values.project(place)[0],
      model: place => this.values.model(place)[0],
      started: place => index.started[place] || null,
      steps: place => index.n_steps[place],
    };
    const any = { project: "Any project", model: "Any model", agent: "Any agent", week: "Any week", kind: "Sessions and sub-agents" };
    const filters = this.choices_of(any, (name, values) =>
      values.sort(name === "week" ? ([a], [b]) => order(b, a) : ([, a], [, b]) => b - a));
    this.build({
      search: "Search first words, id, file, reasons",
      filters,
      columns: [
        { name: "session", words: "session", width: "minmax(11rem, 3fr)", kind: "item" },
        { name: "found", words: "found", width: "minmax(8rem, 1.4fr)" },
        { name: "reason", words: "reason", width: "minmax(14rem, 5fr)", kind: "reason" },
        { name: "project", words: "project", width: "minmax(6rem, 1.2fr)", kind: "extra" },
        { name: "started", words: "started", width: "6.5rem", kind: "extra" },
        { name: "steps", words: "steps", width: "4rem", kind: "figure" },
      ],
      narrowest: 60,
      actions: { "label these": places => this.labelling(places), "make a benchmark": places => this.benchmark(places) },
      aside: "What was found",
    });
  }

  reason_of(place) {
    return this.index.rationale[place].join(" ");
  }

  kinds() {
    const kinds = super.kinds();
    const n = this.index.is_new.filter(Boolean).length;
    return n ? kinds.set(NEW, n) : kinds;
  }

  select(state) {
    return state.show === NEW ? this.chosen(state, place => this.index.is_new[place]) : super.select(state);
  }

  named_state(parts) {
    const state = super.named_state(parts);
    return parts.get("show") === NEW && this.index.is_new.some(Boolean) ? { ...state, show: NEW } : state;
  }

  files_of(places) {
    return [...new Set(places.map(place => this.index.file[place]))].map(quoted).join(" ");
  }

  /** The lines that let people label the sessions, for the category that is shown, else the first that was found. */
  labelling(places) {
    const { index } = this;
    const shown = this.categories.indexOf(this.state.show);
    const category = index.categories[shown < 0 ? index.category[places[0]][0] : shown];
    return [`misstep judge run ${quoted(`${category}@rule`)} ${this.files_of(places)} --out to_label`, "misstep annotate to_label --study labels"];
  }

  benchmark(places) {
    return [...this.labelling(places), `misstep benchmark make ${this.files_of(places)} --labels labels --out my_benchmark`];
  }

  first_falls(name) {
    return name === "steps" || name === "started";
  }

  cells(place) {
    const { index } = this;
    const cell = (kind, ...content) => make("div", { role: "gridcell", class: kind }, content);
    return [
      cell("item", index.is_new[place] ? make("span", { class: "new", title: NEW }, "new") : "", said(this.title_of(place)),
        make("span", { class: "excerpt" }, said(index.title[place] ? index.id[place] : ""))),
      cell("", said(this.found_in(place).join(", "))),
      cell("reason", said(this.reason_of(place))),
      cell("extra", said(this.keys.project(place).split("/").slice(-2).join("/"))),
      cell("extra", index.started[place].slice(0, 10)),
      cell("figure", count(index.n_steps[place])),
    ];
  }

  facts_of(place) {
    const { index } = this;
    return [
      ["File", this.place_of(place)],
      ["Session", index.id[place]], ["Project", this.keys.project(place)], ["Model", this.keys.model(place)],
      ["Started", index.started[place] || "not recorded"],
      ...(index.parent[place] ? [["Sub-agent started by", index.parent[place]]] : []),
    ];
  }
}

list_sections("#sessions", (section, index) => new FlaggedSessions(section, index));
