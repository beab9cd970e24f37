const SUB_AGENT = "sub-agents' runs", OWN = "runs of their own";
const NOTHING = "nothing found";
const TOLD_EVERY = 500;
const NOT_SEARCHED = new Set(["id", "role", "facts", "summary", "view"]);

/** All texts of a run as the page holds it. */
const texts_of = value => typeof value === "string" ? [value]
  : Array.isArray(value) ? value.flatMap(texts_of)
  : value && typeof value === "object" ? Object.entries(value).flatMap(([name, one]) => NOT_SEARCHED.has(name) ? [] : texts_of(one))
  : [];

const seconds_in_words = seconds => seconds === null ? ""
  : seconds < 100 ? `${Number(seconds.toPrecision(2))} s` : seconds < 6000 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;

/** All runs of a folder, each with what was found in it and its steps; their texts are unpacked at the first search. */
class AllRuns extends JudgedRuns {
  constructor(section, index) {
    const start = { show: "", outcome: "", model: "", agent: "", format: "", kind: "", q: "", sort: "", down: false };
    super(section, index, { noun: "run", start });
    this.texts = { read: 0, of: index.piece.filter(Boolean).length, begun: false };
    this.values = {
      outcome: place => [index.outcomes[index.outcome[place]]],
      model: place => [index.models[index.model[place]]],
      agent: place => [index.agents[index.agent[place]]],
      format: place => [index.formats[index.format[place]]],
      kind: place => [index.parent[place] ? SUB_AGENT : OWN],
    };
    this.keys = {
      run: place => this.title_of(place),
      found: place => this.found_in(place).join(", ") || null,
      outcome: place => this.values.outcome(place)[0],
      agent: place => this.values.agent(place)[0],
      model: place => this.values.model(place)[0],
      steps: place => index.n_steps[place],
      time: place => index.seconds[place],
      tokens: place => index.tokens[place],
    };
    const any = { outcome: "Any outcome", model: "Any model", agent: "Any agent", format: "Any format", kind: "Runs and sub-agents" };
    this.build({
      search: "Search id, task, file and texts",
      filters: this.choices_of(any, (_, values) => values.sort(([, a], [, b]) => b - a)),
      columns: [
        { name: "run", words: "run", width: "minmax(12rem, 4fr)", kind: "item" },
        { name: "found", words: "found", width: "minmax(8rem, 2fr)" },
        { name: "outcome", words: "outcome", width: "5rem", kind: "extra" },
        { name: "agent", words: "agent", width: "minmax(5rem, 1fr)", kind: "extra" },
        { name: "model", words: "model", width: "minmax(6.5rem, 1.4fr)", kind: "extra" },
        { name: "steps", words: "steps", width: "4rem", kind: "figure" },
        { name: "time", words: "time", width: "4.5rem", kind: "figure" },
        { name: "tokens", words: "tokens", width: "5.5rem", kind: "figure" },
      ],
      narrowest: 62,
      aside: "What was found",
    });
  }

  kinds() {
    const kinds = super.kinds();
    const none = this.index.category.filter(found => !found.length).length;
    return none ? kinds.set(NOTHING, none) : kinds;
  }

  select(state) {
    return state.show === NOTHING ? this.chosen(state, place => !this.index.category[place].length) : super.select(state);
  }

  update() {
    super.update();
    const { read, of, begun } = this.texts;
    if (begun && read < of) this.status.append(`; the texts of ${count(read)} of ${plural(of, "run")} are searched so far`);
    if (words_of(this.state.q).length && !begun) this.read_texts();
  }

  /** Unpack the texts of all runs, so that a search looks into them; the list is brought up to date meanwhile. */
  async read_texts() {
    this.texts.begun = true;
    let told = performance.now();
    for (let place = 0; place < this.names.length; place++) {
      const run = await this.part(this.index.piece[place]);
      if (!run) continue;
      this.haystacks[place] += `\n${texts_of(run).join("\n").toLowerCase()}`;
      this.texts.read++;
      if (performance.now() - told > TOLD_EVERY) {
        this.update();
        told = performance.now();
        await new Promise(done => setTimeout(done));
      }
    }
    this.update();
  }

  first_falls(name) {
    return ["steps", "time", "tokens"].includes(name);
  }

  cells(place) {
    const { index, keys } = this;
    const cell = (kind, ...content) => make("div", { role: "gridcell", class: kind }, content);
    const tokens = index.tokens[place];
    return [
      cell("item", said(this.title_of(place)), make("span", { class: "excerpt" }, said(index.title[place] ? index.id[place] : ""))),
      cell("", said(this.found_in(place).join(", "))),
      cell("extra", said(keys.outcome(place))),
      cell("extra", said(keys.agent(place))),
      cell("extra", said(keys.model(place))),
      cell("figure", count(index.n_steps[place])),
      cell("figure", seconds_in_words(index.seconds[place])),
      cell("figure", tokens === null ? "" : count(tokens)),
    ];
  }

  facts_of(place) {
    const { index } = this;
    return [
      ["File", this.place_of(place)], ["Run", index.id[place]], ["Format", this.values.format(place)[0]],
      ...(index.started[place] ? [["Started", index.started[place]]] : []),
      ...(index.parent[place] ? [["Sub-agent started by", index.parent[place]]] : []),
    ];
  }

  async about(place) {
    const shown = await super.about(place);
    const words = words_of(this.state.q);
    if (!words.length) return shown;
    let hits = 0;
    for (const step of shown.flatMap(part => [...(part.querySelectorAll?.(".step") ?? [])])) {
      if (!words.some(word => step.textContent.toLowerCase().includes(word))) continue;
      step.classList.add("hit");
      hits++;
      for (const folded of step.querySelectorAll("details")) folded.open ||= words.some(word => folded.textContent.toLowerCase().includes(word));
    }
    if (!hits) return shown;
    const key = make("button", { type: "button", class: "jump", on: { click: () => this.next_hit() } }, "n goes to the next");
    return [make("p", { class: "small" }, `${plural(hits, "step")} with what is searched for; `, key), ...shown];
  }

  next_hit() {
    const hits = [...this.dialog.querySelectorAll(".step.hit")];
    this.show_step(hits[(hits.indexOf(document.activeElement) + 1) % hits.length]);
  }

  in_dialog(event) {
    if (event.key !== "n" || event.ctrlKey || event.metaKey || event.altKey) return super.in_dialog(event);
    this.next_hit();
    event.preventDefault();
    event.stopPropagation();
  }

  named_state(parts) {
    const state = super.named_state(parts);
    return parts.get("show") === NOTHING ? { ...state, show: NOTHING } : state;
  }
}

list_sections("#runs", (section, index) => new AllRuns(section, index));
