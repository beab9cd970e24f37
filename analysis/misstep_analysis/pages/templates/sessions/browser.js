const SUB_AGENT = "sub-agents' runs", OWN = "sessions";

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
        { name: "session", words: "session", width: "minmax(12rem, 4fr)", kind: "item" },
        { name: "found", words: "found", width: "minmax(9rem, 2fr)" },
        { name: "project", words: "project", width: "minmax(7rem, 1.5fr)" },
        { name: "model", words: "model", width: "minmax(6rem, 1fr)", kind: "extra" },
        { name: "started", words: "started", width: "6.5rem", kind: "extra" },
        { name: "steps", words: "steps", width: "4rem", kind: "figure" },
      ],
      narrowest: 54,
      aside: "What was found",
    });
  }

  first_falls(name) {
    return name === "steps" || name === "started";
  }

  cells(place) {
    const { index } = this;
    const cell = (kind, ...content) => make("div", { role: "gridcell", class: kind }, content);
    return [
      cell("item", said(this.title_of(place)), make("span", { class: "excerpt" }, said(index.title[place] ? index.id[place] : ""))),
      cell("", said(this.found_in(place).join(", "))),
      cell("", said(this.keys.project(place).split("/").slice(-2).join("/"))),
      cell("extra", said(this.keys.model(place))),
      cell("extra", index.started[place].slice(0, 10)),
      cell("figure", count(index.n_steps[place])),
    ];
  }

  facts_of(place) {
    const { index } = this;
    return [
      ["File", this.place_of(place)],
      ["Session", index.id[place]], ["Project", this.keys.project(place)],
      ["Started", index.started[place] || "not recorded"],
      ...(index.parent[place] ? [["Sub-agent started by", index.parent[place]]] : []),
    ];
  }
}

list_sections("#sessions", (section, index) => new FlaggedSessions(section, index));
