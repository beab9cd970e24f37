const in_words = category => category.replaceAll("_", " ");
const SUB_AGENT = "sub-agents' runs", OWN = "sessions";

/** The flagged sessions of a run of `classify`, each with what was found in it and its steps. */
class FlaggedSessions extends Listing {
  constructor(section, index) {
    const start = { show: "", project: "", model: "", agent: "", week: "", kind: "", q: "", sort: "", down: false };
    super(section, { noun: "session", names: index.id, start });
    this.index = index;
    this.categories = index.categories.map(in_words);
    this.haystacks = index.id.map((id, place) =>
      [id, index.title[place], index.file[place], ...index.rationale[place]].join("\n").toLowerCase());
    this.values = {
      project: place => [index.projects[index.project[place]]],
      model: place => [index.models[index.model[place]]],
      agent: place => [index.agents[index.agent[place]]],
      week: place => [index.weeks[index.week[place]]],
      kind: place => [index.parent[place] ? SUB_AGENT : OWN],
    };
    this.keys = {
      session: place => index.title[place] || index.id[place],
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

  found_in(place) {
    return this.index.category[place].map(category => this.categories[category]);
  }

  kinds() {
    const kinds = new Map([["", this.names.length], ...this.categories.map(category => [category, 0])]);
    for (const found of this.index.category) {
      for (const category of found) kinds.set(this.categories[category], kinds.get(this.categories[category]) + 1);
    }
    return kinds;
  }

  first_falls(name) {
    return name === "steps" || name === "started";
  }

  select(state) {
    const category = this.categories.indexOf(state.show);
    return this.chosen(state, place => category < 0 || this.index.category[place].includes(category));
  }

  refresh() {
    this.show_kinds(this.kinds());
  }

  cells(place) {
    const { index } = this;
    const cell = (kind, ...content) => make("div", { role: "gridcell", class: kind }, content);
    return [
      cell("item", said(this.keys.session(place)), make("span", { class: "excerpt" }, said(index.title[place] ? index.id[place] : ""))),
      cell("", said(this.found_in(place).join(", "))),
      cell("", said(this.keys.project(place).split("/").slice(-2).join("/"))),
      cell("extra", said(this.keys.model(place))),
      cell("extra", index.started[place].slice(0, 10)),
      cell("figure", count(index.n_steps[place])),
    ];
  }

  title_of(place) {
    return this.keys.session(place);
  }

  aside(place) {
    const { index } = this;
    const jump = index.piece[place] ? step => this.jump(step) : null;
    const line = index.line[place];
    return [
      ...this.found_in(place).map((category, number) => make("section", null,
        make("h3", null, said(category)),
        make("p", { class: "reasons" }, said(index.rationale[place][number])),
        index.steps[place][number].length ? make("p", { class: "evidence-steps" }, "Evidence: ", step_links(index.steps[place][number], jump)) : "")),
      make("section", null, facts([
        ["File", line === null ? index.file[place] : `${index.file[place]}, line ${count(line)}`],
        ["Session", index.id[place]], ["Project", this.keys.project(place)],
        ["Started", index.started[place] || "not recorded"],
        ...(index.parent[place] ? [["Sub-agent started by", index.parent[place]]] : []),
      ]), make("p", { class: "small" }, "All of it: ", make("code", { class: "command" }, said(index.view[place])))),
    ];
  }

  async about(place) {
    const { index } = this;
    const run = await this.part(index.piece[place]);
    if (!run) return [make("p", { class: "cut" }, "The steps of this session are not in the page. The command beside shows all of it.")];
    const named = new Map();
    this.found_in(place).forEach((category, number) => {
      for (const step of index.steps[place][number]) named.set(step, [...(named.get(step) ?? []), category]);
    });
    return run_shown(run, named, { title: "Session" });
  }

  named_state(parts) {
    const state = super.named_state(parts);
    return this.categories.includes(state.show) ? state : { ...state, show: "" };
  }
}

list_sections("#sessions", (section, index) => new FlaggedSessions(section, index));
