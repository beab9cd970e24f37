const ROWS_SHOWN = 500;

/** The list of attempts with its filters, and the attempt that is opened. */
class Attempts {
  constructor(section, index) {
    Object.assign(this, { section, index, state: {}, found: [], opened: null });
    const distinct = values => [...new Set(values)].sort(new Intl.Collator("en", { numeric: true }).compare);
    this.filters = new Map([
      ["outcome", ["Any outcome", distinct(index.outcome.map(one => index.outcomes[one]))]],
      ["run", ["Any run", index.runs]],
      ["setting", ["Any setting", distinct(index.setting)]],
      ["ended", ["Ended in any way", distinct(index.ended.filter(Boolean))]],
      ["signal", ["Any signal", distinct(index.signals.flat())]],
    ].filter(([name, [, values]]) => values.length > 1 || name === "outcome"));
    this.search = make("input", { type: "search", placeholder: "Search case, error", "aria-label": "Search attempts",
      spellcheck: "false", on: { input: () => this.change("q", this.search.value) } });
    this.selects = [...this.filters].map(([name, [any, values]]) => make("select",
      { "aria-label": any, on: { change: event => this.change(name, event.target.value) } },
      make("option", { value: "" }, any), values.map(value => make("option", { value }, value))));
    this.status = make("p", { class: "small", role: "status" });
    this.rows = make("tbody");
    const heads = ["attempt", "run", "outcome", "ended", "iterations", "seconds", "signals"];
    section.querySelector(".browser").append(
      make("div", { class: "controls" }, this.search, this.selects), this.status,
      make("div", { class: "shown", tabindex: 0, role: "region", "aria-label": "Attempts" }, make("table", null,
        make("thead", null, make("tr", null, heads.map(head => make("th", { scope: "col" }, head)))), this.rows)));
    this.dialog = make("dialog", { class: "opened", "aria-labelledby": "attempt-title",
      on: { close: () => { this.opened = null; this.dialog.replaceChildren(); },
        click: event => event.target === this.dialog && this.dialog.close(),
        keydown: event => { if (event.key === "j") this.turn(1); if (event.key === "k") this.turn(-1); } } });
    section.append(this.dialog);
    section.classList.add("scripted");
    this.update();
  }

  change(name, value) {
    this.state[name] = value;
    this.update();
  }

  value(name, place) {
    const { index } = this;
    return name === "outcome" ? index.outcomes[index.outcome[place]] : name === "run" ? index.runs[index.run[place]] : index[name][place];
  }

  is_wanted(place) {
    const { index, state } = this;
    const words = (state.q ?? "").toLowerCase().split(/\s+/).filter(Boolean);
    const text = `${index.id[place]}\n${index.error[place]}`.toLowerCase();
    return words.every(word => text.includes(word)) && [...this.filters.keys()].every(name => !state[name]
      || (name === "signal" ? index.signals[place].includes(state[name]) : this.value(name, place) === state[name]));
  }

  update() {
    const { index } = this;
    this.found = index.id.map((_, place) => place).filter(place => this.is_wanted(place));
    const shown = this.found.length > ROWS_SHOWN ? `, the first ${count(ROWS_SHOWN)} of them shown` : "";
    this.status.textContent = `${count(this.found.length)} of ${plural(index.id.length, "attempt")}${shown}`;
    this.rows.replaceChildren(...this.found.slice(0, ROWS_SHOWN).map(place => this.row(place)));
  }

  row(place) {
    const { index } = this;
    const outcome = this.value("outcome", place);
    const kind = outcome === "solved" ? "right" : outcome === "unsolved" ? "wrong" : "other";
    const open = make("button", { type: "button", class: "jump", on: { click: event => { event.stopPropagation(); this.open(place); } } }, said(index.id[place]));
    return make("tr", { on: { click: () => this.open(place) } },
      make("th", { scope: "row" }, open), make("td", null, said(this.value("run", place))),
      make("td", { class: `verdict ${kind}` }, outcome), make("td", null, said(index.ended[place])),
      make("td", { class: "figure" }, count(index.iterations[place])),
      make("td", { class: "figure" }, Number(index.seconds[place].toPrecision(3))),
      make("td", null, said(index.signals[place].filter(one => !one.endsWith(": passed")).join(", ") || (index.signals[place].length ? "all passed" : ""))));
  }

  turn(by) {
    const next = this.found[this.found.indexOf(this.opened) + by];
    if (this.opened !== null && next !== undefined) this.open(next);
  }

  async open(place) {
    this.opened = place;
    const { index } = this;
    const title = make("h2", { id: "attempt-title", tabindex: -1, autofocus: true }, said(index.id[place]));
    const button = (words, label, does) => make("button", { type: "button", "aria-label": label, title: label, on: { click: does } }, words);
    const aside = make("aside", { tabindex: 0, "aria-label": "What came of it" },
      make("p", null, make("b", null, this.value("outcome", place))),
      index.error[place] ? make("p", { class: "small" }, make("b", null, "Error: "), said(index.error[place])) : "");
    const body = make("div", { class: "about" }, make("p", { class: "small" }, "Opening …"));
    this.dialog.replaceChildren(
      make("header", null, title, button("←", "Previous attempt (k)", () => this.turn(-1)),
        button("→", "Next attempt (j)", () => this.turn(1)), button("×", "Close (Esc)", () => this.dialog.close())),
      make("div", { class: "two" }, aside, body));
    if (!this.dialog.open) this.dialog.showModal();
    title.focus();
    this.dialog.scrollTop = 0;
    const view = index.piece[place] ? await read(`attempts-${index.piece[place]}`) : null;
    if (this.opened !== place) return;
    if (!view) return body.replaceChildren(make("p", { class: "small" }, "This page holds neither a patch nor a trajectory of this attempt."));
    aside.append(facts(view.facts), ...(view.signals ?? []).map(signal => make("section", null,
      make("h3", null, said(signal.validator)),
      make("p", { class: `verdict ${signal.answer === "passed" ? "right" : signal.answer === "failed" ? "wrong" : "other"}` },
        signal.answer, signal.score === undefined ? "" : ` (${signal.score.toFixed(2)})`), passage(signal.text))));
    const steps = view.run?.steps ?? [];
    body.replaceChildren(
      make("h3", null, "Patch"), view.patch?.start ? passage({ ...view.patch, is_open: true }) : make("p", { class: "small" }, "No patch."),
      ...(view.run ? [
        view.run.task?.start ? make("h3", null, "Task") : "", view.run.task?.start ? passage({ ...view.run.task, is_open: true }) : "",
        make("h3", null, `Trajectory of ${plural(view.run.n_steps, "step")}`),
        make("ol", { class: "steps" }, steps.map(step => [
          step.skipped ? make("li", { class: "skipped" }, `${plural(step.skipped, "step")} not shown here.`) : "", step_of(step, [])])),
      ] : [make("p", { class: "small" }, "The trajectory is not on record.")]));
  }
}

(async () => {
  const section = document.getElementById("attempts");
  try {
    new Attempts(section, await read("attempts-index"));
  } catch (error) {
    section.querySelector(".browser").append(make("p", { class: "small" }, `This browser cannot list the attempts: ${error.message}`));
  }
})();
