const in_words = category => category.replaceAll("_", " ");

/** Runs with the categories that were found in each: a page's own class says which facts it lists of them. */
class JudgedRuns extends Listing {
  constructor(section, index, { noun, start }) {
    super(section, { noun, names: index.id, start });
    this.index = index;
    this.categories = index.categories.map(in_words);
    this.haystacks = index.id.map((id, place) =>
      [id, index.title[place], index.file[place], ...index.rationale[place]].join("\n").toLowerCase());
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

  select(state) {
    const category = this.categories.indexOf(state.show);
    return this.chosen(state, place => category < 0 || this.index.category[place].includes(category));
  }

  refresh() {
    this.show_kinds(this.kinds());
  }

  title_of(place) {
    return this.index.title[place] || this.index.id[place];
  }

  place_of(place) {
    const line = this.index.line[place];
    return line === null ? this.index.file[place] : `${this.index.file[place]}, line ${count(line)}`;
  }

  aside(place) {
    const { index } = this;
    const jump = index.piece[place] ? step => this.jump(step) : null;
    return [
      ...this.found_in(place).map((category, number) => make("section", null,
        make("h3", null, said(category)),
        make("p", { class: "reasons" }, said(index.rationale[place][number])),
        index.steps[place][number].length ? make("p", { class: "evidence-steps" }, "Evidence: ", step_links(index.steps[place][number], jump)) : "")),
      make("section", null, facts(this.facts_of(place)),
        make("p", { class: "small" }, "All of it: ", make("code", { class: "command" }, said(index.view[place])))),
    ];
  }

  async about(place) {
    const { index, noun } = this;
    const run = await this.part(index.piece[place]);
    if (!run) return [make("p", { class: "cut" }, `The steps of this ${noun} are not in the page. The command beside shows all of it.`)];
    const named = new Map();
    this.found_in(place).forEach((category, number) => {
      for (const step of index.steps[place][number]) named.set(step, [...(named.get(step) ?? []), category]);
    });
    return run_shown(run, named, { title: noun[0].toUpperCase() + noun.slice(1) });
  }

  /** Open a run at what is searched for, else at its first evidence. */
  async open(place) {
    await super.open(place);
    if (this.opened !== place) return;
    const first = this.dialog.querySelector(".step.hit") ?? this.dialog.querySelector(".step.evidence");
    if (first) bring(first);
  }

  named_state(parts) {
    const state = super.named_state(parts);
    return this.categories.includes(state.show) ? state : { ...state, show: "" };
  }
}
