/** The items of a benchmark, with what people and judges say of each. */
class JudgedItems extends Listing {
  constructor(section, items) {
    const alone = items.is_triage && !items.has_gold && items.runs.length === 1;
    super(section, { noun: alone ? "trial" : "item", names: items.ids, start: { run: "0", show: "", pair: "", q: "", sort: "", down: false } });
    this.items = items;
    this.alone = alone;
    this.figures = alone ? [] : Object.keys(FIGURES).filter(name => items.runs.some(run => run[name].some(value => value !== null)));
    const run = this.choice("run", "Run", items.runs.map((one, place) => [String(place), one.name]));
    const pair = this.choice("pair", items.has_gold ? "Gold label and answer" : "Answer", this.pairs(this.state));
    this.build({
      search: "Search id, text, reasons",
      filters: [items.runs.length > 1 ? run : "", pair],
      columns: [
        { name: "item", words: alone ? "trial" : "item", width: "minmax(9rem, 3fr)", kind: "item" },
        ...(items.has_gold ? [{ name: "gold", words: "gold label", width: "minmax(6rem, 1fr)", kind: "gold" }] : []),
        ...items.runs.map((one, place) => ({
          name: String(place), words: alone ? "whose fault" : one.name, width: alone ? "minmax(9rem, 2fr)" : "minmax(7rem, 1fr)", kind: "answer",
        })),
        ...(alone ? [
          { name: "why", words: "why", width: "minmax(10rem, 4fr)", kind: "extra" },
          { name: "next_step", words: "what to do", width: "minmax(6rem, 1fr)" },
        ] : []),
        ...this.figures.map(name => ({ name, words: FIGURES[name][0], width: "4.5rem", kind: "figure" })),
      ],
      narrowest: (alone ? 36 : 24) + 8 * items.runs.length + 5 * this.figures.length,
      aside: alone ? "Verdict and evidence" : "What people and judges said",
    });
  }

  pairs({ run }) {
    return [["", this.items.has_gold ? "Any gold label → answer" : "Any answer"], ...this.items.pairs(Number(run)).map(([pair, n]) => [pair, `${pair} (${count(n)})`])];
  }

  first_falls(name) {
    return name in FIGURES;
  }

  change(part) {
    if ("run" in part) this.state = { ...this.state, pair: "" };
    super.change(part);
  }

  select(state) {
    return this.items.select({ ...state, run: Number(state.run) });
  }

  refresh() {
    const { items, state } = this;
    this.show_kinds(items.kinds(Number(state.run)));
    this.offer("pair", this.pairs(state));
    for (const head of this.heads) {
      if (head.classList.contains("answer")) head.classList.toggle("chosen", head.dataset.name === state.run);
    }
  }

  cells(place) {
    const { items, state } = this;
    return [
      make("div", { role: "gridcell", class: "item" }, said(items.ids[place]), make("span", { class: "excerpt" }, said(items.excerpts[place]))),
      items.has_gold ? make("div", { role: "gridcell", class: "gold" }, said(items.gold_of(place))) : "",
      ...items.runs.map((_, run) => this.answer_cell(run, place)),
      ...(this.alone ? [
        make("div", { role: "gridcell", class: "extra", title: items.why(0, place) }, said(items.why(0, place))),
        make("div", { role: "gridcell" }, items.runs[0].next_step[place]),
      ] : []),
      ...this.figures.map(name => {
        const value = items.runs[Number(state.run)][name][place];
        return make("div", { role: "gridcell", class: "figure" }, value === null ? "—" : FIGURES[name][1](value));
      }),
    ];
  }

  answer_cell(run, place) {
    const outcome = this.items.outcome(run, place);
    if (this.alone) return make("div", { role: "gridcell", class: "answer chosen" }, said(this.items.fault(run, place)));
    const chosen = String(run) === this.state.run ? "chosen" : "";
    const mark = make("span", { class: "mark-of", "aria-hidden": "true" }, mark_of(outcome));
    const spoken = make("span", { class: "unseen" }, ` (${outcome})`);
    return make("div", { role: "gridcell", class: `answer ${chosen} ${kind_of(outcome)}` }, mark, " ", said(this.items.answer(run, place)), spoken);
  }

  aside(place) {
    const { items } = this;
    return [items.has_gold ? people(items, place) : "", ...items.runs.map((_, run) => judge(items, run, place, step => this.jump(step)))];
  }

  async about(place) {
    const { items } = this;
    const [block, number] = items.piece_of[place].split("/");
    const [texts_of, run] = await Promise.all([this.part(block), this.part(items.run_of[place])]);
    const material = texts_of?.[number];
    const absent = items.absent[place];
    return [
      ...(material ? texts(material) : []),
      ...(run ? run_shown(run, named_in(items, place), { told: material?.task?.start, all: "All of it, in the benchmark's folder: " }) : []),
      absent ? make("p", { class: "cut" }, said(absent)) : "",
      run || absent || ["task", "text", "patch", "output_a", "output_b"].some(name => material?.[name]?.start) ? ""
        : make("p", { class: "small" }, "The benchmark holds neither a run nor a text of this item."),
    ];
  }

  named_state(parts) {
    const { items } = this;
    const run = String(Math.min(Math.max(Math.trunc(Number(parts.get("run"))) || 0, 0), items.runs.length - 1));
    const show = items.kinds(Number(run)).has(parts.get("show")) ? parts.get("show") : "";
    const pair = items.pairs(Number(run)).some(([one]) => one === parts.get("pair")) ? parts.get("pair") : "";
    return { ...super.named_state(parts), run, show, pair };
  }
}

list_sections("section.items", (section, index) => new JudgedItems(section, new Items(index)));
