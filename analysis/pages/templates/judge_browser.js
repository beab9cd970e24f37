const ROWS_BEYOND = 8;
const START = { run: 0, show: "", pair: "", q: "", sort: "", down: false };

/** The list of a section's items with its filters, and the item that is opened. */
class Browser {
  constructor(section, items) {
    this.section = section;
    this.items = items;
    this.state = { ...START };
    this.found = [];
    this.at = 0;
    this.opened = null;
    this.build();
  }

  build() {
    const { items } = this;
    this.search = make("input", {
      type: "search", placeholder: "Search id, text, reasons", "aria-label": "Search items", spellcheck: "false",
      on: { input: () => this.change({ q: this.search.value }), keydown: event => this.in_search(event) },
    });
    this.chips = make("div", { class: "chips", role: "group", "aria-label": "Which items" });
    this.pair = make("select", { "aria-label": "Gold label and answer", on: { change: () => this.change({ pair: this.pair.value }) } });
    this.run = make("select", { "aria-label": "Run", on: { change: () => this.change({ run: Number(this.run.value), pair: "" }) } },
      items.runs.map((run, place) => make("option", { value: place }, run.name)));
    this.status = make("p", { class: "small", role: "status" });
    this.figures = Object.keys(FIGURES).filter(name => items.runs.some(run => run[name].some(value => value !== null)));
    this.rows = make("div", { class: "rows", role: "rowgroup" });
    this.heads = [["item", "item"], ["gold", "gold label"], ...items.runs.map((run, place) => [String(place), run.name]),
      ...this.figures.map(name => [name, FIGURES[name][0]])].map(([name, words]) => this.head(name, words));
    this.list = make("div", {
      class: "list", role: "grid", tabindex: 0, "aria-label": "Items", "aria-colcount": this.heads.length,
      on: { scroll: () => this.draw_soon(), keydown: event => this.in_list(event) },
    }, make("div", { class: "head row", role: "row", "aria-rowindex": 1 }, this.heads), this.rows);
    const widths = ["minmax(9rem, 3fr)", "minmax(6rem, 1fr)", ...items.runs.map(() => "minmax(7rem, 1fr)"), ...this.figures.map(() => "4.5rem")];
    this.list.style.setProperty("--columns", widths.join(" "));
    this.list.style.setProperty("--narrowest", `${24 + 8 * items.runs.length + 5 * this.figures.length}rem`);
    const keys = [["/", "search"], ["j", "next"], ["k", "previous"], ["Enter", "open"], ["Esc", "close"]];
    this.section.querySelector(".browser").append(
      make("div", { class: "controls" }, this.search, items.runs.length > 1 ? this.run : "", this.pair), this.chips,
      make("div", { class: "said" }, this.status,
        make("p", { class: "small keys" }, keys.map(([key, does]) => [make("kbd", null, key), ` ${does} `]))),
      this.list);
    this.dialog = make("dialog", {
      class: "opened", "aria-labelledby": `${this.section.id}-title`,
      on: { close: () => this.closed(), keydown: event => this.in_dialog(event),
        click: event => event.target === this.dialog && this.dialog.close() },
    });
    this.section.append(this.dialog);
    this.section.classList.add("scripted");
    addEventListener("resize", () => this.draw_soon());
  }

  head(name, words) {
    const button = make("button", { type: "button", title: "Sort by this column",
      on: { click: () => this.sort_by(name) } }, said(words));
    return make("div", { role: "columnheader", class: this.column(name), "data-name": name }, button);
  }

  column(name) {
    return name === "item" || name === "gold" ? name : name in FIGURES ? "figure" : "answer";
  }

  sort_by(name) {
    const { sort, down } = this.state;
    const first = name in FIGURES;
    if (sort !== name) this.change({ sort: name, down: first });
    else if (down === first) this.change({ down: !down });
    else this.change({ sort: "", down: false });
  }

  change(part) {
    this.state = { ...this.state, ...part };
    this.at = 0;
    this.list.scrollTop = 0;
    this.update();
    this.keep_address();
  }

  update() {
    const { items, state } = this;
    this.found = items.select(state);
    if (this.search.value !== state.q) this.search.value = state.q;
    this.run.value = String(state.run);
    const kinds = items.kinds(state.run);
    this.chips.replaceChildren(...[...kinds].map(([kind, n]) => make("button", {
      type: "button", "aria-pressed": String(state.show === kind), class: `chip ${kind.replaceAll(" ", "-")}`,
      on: { click: () => this.change({ show: state.show === kind ? "" : kind }) },
    }, `${kind || "all"} `, make("span", null, count(n)))));
    this.pair.replaceChildren(make("option", { value: "" }, "Any gold label → answer"),
      ...items.pairs(state.run).map(([pair, n]) => make("option", { value: pair }, `${pair} (${count(n)})`)));
    this.pair.value = state.pair;
    for (const head of this.heads) {
      const sorted = head.dataset.name === state.sort;
      head.setAttribute("aria-sort", sorted ? (state.down ? "descending" : "ascending") : "none");
      if (head.classList.contains("answer")) head.classList.toggle("chosen", head.dataset.name === String(state.run));
    }
    const of = this.found.length === items.length ? "" : ` of ${count(items.length)}`;
    this.status.textContent = `${count(this.found.length)}${of} item${items.length === 1 ? "" : "s"}`;
    this.list.setAttribute("aria-rowcount", this.found.length + 1);
    this.draw();
  }

  draw_soon() {
    this.drawing ??= requestAnimationFrame(() => { this.drawing = null; this.draw(); });
  }

  draw() {
    const height = this.row_height();
    this.rows.style.height = `${this.found.length * height}px`;
    const first = Math.max(0, Math.floor(this.list.scrollTop / height) - ROWS_BEYOND);
    const last = Math.min(this.found.length, Math.ceil((this.list.scrollTop + this.list.clientHeight) / height) + ROWS_BEYOND);
    const rows = [];
    for (let number = first; number < last; number++) rows.push(this.row(number, height));
    this.rows.replaceChildren(...rows);
    const current = this.found.length && this.at >= first && this.at < last;
    this.list.setAttribute("aria-activedescendant", current ? `${this.section.id}-row-${this.at}` : "");
  }

  row_height() {
    if (!this.sample) this.sample = this.section.querySelector(".browser").appendChild(make("div", { class: "row sample", "aria-hidden": "true" }));
    return this.sample.offsetHeight || 40;
  }

  row(number, height) {
    const { items, state } = this;
    const place = this.found[number];
    const cells = [
      make("div", { role: "gridcell", class: "item" }, said(items.ids[place]), make("span", { class: "excerpt" }, said(items.excerpts[place]))),
      make("div", { role: "gridcell", class: "gold" }, said(items.gold_of(place))),
      ...items.runs.map((_, run) => this.answer_cell(run, place)),
      ...this.figures.map(name => {
        const value = items.runs[state.run][name][place];
        return make("div", { role: "gridcell", class: "figure" }, value === null ? "—" : FIGURES[name][1](value));
      }),
    ];
    const row = make("div", {
      class: `row ${number === this.at ? "current" : ""}`, role: "row", id: `${this.section.id}-row-${number}`,
      "aria-rowindex": number + 2, "aria-selected": String(number === this.at),
      on: { click: () => { this.move_to(number); this.open(place); } },
    }, cells);
    row.style.top = `${number * height}px`;
    return row;
  }

  answer_cell(run, place) {
    const outcome = this.items.outcome(run, place);
    const chosen = run === this.state.run ? "chosen" : "";
    const mark = make("span", { class: "mark-of", "aria-hidden": "true" }, mark_of(outcome));
    const spoken = make("span", { class: "unseen" }, ` (${outcome})`);
    return make("div", { role: "gridcell", class: `answer ${chosen} ${kind_of(outcome)}` }, mark, " ", said(this.items.answer(run, place)), spoken);
  }

  move_to(number) {
    if (!this.found.length) return;
    this.at = Math.min(Math.max(number, 0), this.found.length - 1);
    const height = this.row_height();
    const head = this.list.firstElementChild.offsetHeight;
    const top = this.at * height, room = this.list.clientHeight - head;
    if (top < this.list.scrollTop) this.list.scrollTop = top;
    else if (top + height > this.list.scrollTop + room) this.list.scrollTop = top + height - room;
    this.draw();
  }

  in_list(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(this.list.clientHeight / this.row_height()) - 2);
    const steps = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (event.key in steps) this.move_to(this.at + steps[event.key]);
    else if ((event.key === "Enter" || event.key === " ") && this.found.length && event.target === this.list) this.open(this.found[this.at]);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  in_search(event) {
    if (event.key === "Escape" && !this.search.value) this.list.focus();
    else if (event.key === "Enter" || event.key === "ArrowDown") { this.list.focus(); event.preventDefault(); }
    event.stopPropagation();
  }

  in_dialog(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "j" || event.key === "k") this.turn(event.key === "j" ? 1 : -1);
    else if (event.key === "e") this.next_evidence();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  turn(by) {
    const number = this.found.indexOf(this.opened);
    const next = number < 0 ? this.at : number + by;
    if (next < 0 || next >= this.found.length) return;
    this.move_to(next);
    this.open(this.found[next]);
  }

  next_evidence() {
    const steps = [...this.dialog.querySelectorAll(".step.evidence")];
    const here = steps.indexOf(document.activeElement);
    this.show_step(steps[(here + 1) % steps.length]);
  }

  show_step(step) {
    if (!step) return;
    step.scrollIntoView({ block: "start" });
    step.focus({ preventScroll: true });
  }

  async open(place) {
    this.opened = place;
    const { items } = this;
    const title = make("h2", { id: `${this.section.id}-title`, tabindex: -1, autofocus: true }, said(items.ids[place]));
    const number = this.found.indexOf(place);
    const button = (words, label, does) => make("button", { type: "button", "aria-label": label, title: label, on: { click: does } }, words);
    const body = make("div", { class: "about" }, make("p", { class: "small" }, "Opening …"));
    this.dialog.replaceChildren(
      make("header", null, title, make("p", { class: "small" }, number < 0 ? "" : `${count(number + 1)} of ${count(this.found.length)}`),
        button("←", "Previous item (k)", () => this.turn(-1)), button("→", "Next item (j)", () => this.turn(1)),
        button("×", "Close (Esc)", () => this.dialog.close())),
      make("div", { class: "two" }, make("aside", { tabindex: 0, "aria-label": "What people and judges said" },
        people(items, place), items.runs.map((_, run) => judge(items, run, place, step => this.show_step(this.dialog.querySelector(`[data-step="${step}"]`))))), body));
    if (!this.dialog.open) this.dialog.showModal();
    title.focus();
    this.dialog.scrollTop = 0;
    this.keep_address();
    const [material, run] = await Promise.all([this.material(place), this.trajectory(place)]);
    if (this.opened !== place) return;
    const absent = items.absent[place];
    body.replaceChildren(
      ...(material ? texts(material) : []), ...(run ? run_of(items, run, place, material?.task?.start) : []), absent ? make("p", { class: "cut" }, said(absent)) : "",
      run || absent || ["task", "text", "patch"].some(name => material?.[name]?.start) ? ""
        : make("p", { class: "small" }, "The benchmark holds neither a run nor a text of this item."));
  }

  closed() {
    this.opened = null;
    this.dialog.replaceChildren();
    this.list.focus();
    this.keep_address();
  }

  async material(place) {
    const [block, number] = this.items.piece_of[place].split("/");
    return block ? (await read(`${this.section.id}-${block}`))[number] : null;
  }

  async trajectory(place) {
    const name = this.items.run_of[place];
    return name ? read(`${this.section.id}-${name}`) : null;
  }

  keep_address() {
    clearTimeout(this.keeping);
    this.keeping = setTimeout(() => this.write_address(), 150);
  }

  write_address() {
    const parts = new URLSearchParams();
    for (const [name, value] of Object.entries(this.state)) if (value !== START[name]) parts.set(name, value);
    if (this.opened !== null) parts.set("item", this.items.ids[this.opened]);
    history.replaceState(null, "", `#${this.section.id}?${parts}`);
  }

  follow(parts) {
    const known = name => parts.get(name) ?? START[name];
    const run = Math.min(Math.max(Math.trunc(Number(known("run"))) || 0, 0), this.items.runs.length - 1);
    const show = this.items.kinds(run).has(known("show")) ? known("show") : START.show;
    const pair = this.items.pairs(run).some(([one]) => one === known("pair")) ? known("pair") : START.pair;
    this.state = { run, show, pair, q: known("q"), sort: known("sort"), down: parts.get("down") === "true" };
    if (![...this.heads].some(head => head.dataset.name === this.state.sort)) this.state.sort = "";
    this.update();
    const place = parts.has("item") ? this.items.ids.indexOf(parts.get("item")) : -1;
    if (place < 0) return;
    const number = this.found.indexOf(place);
    if (number >= 0) this.move_to(number);
    this.open(place);
  }
}

const browsers = new Map();
const follow = () => {
  const [id, parts] = location.hash.slice(1).split(/\?(.*)/s);
  browsers.get(id)?.follow(new URLSearchParams(parts));
};
document.addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (event.target.closest?.("input, select, textarea")) return;
  const browser = browsers.get(document.activeElement?.closest(".items")?.id) ?? browsers.values().next().value;
  if (!browser) return;
  if (event.key === "/") browser.search.focus();
  else if (event.key === "j" || event.key === "k") { browser.list.focus(); browser.in_list(event); }
  else return;
  event.preventDefault();
});
(async () => {
  for (const section of document.querySelectorAll("section.items")) {
    try {
      const browser = new Browser(section, new Items(await read(`${section.id}-index`)));
      browser.update();
      browsers.set(section.id, browser);
    } catch (error) {
      section.querySelector(".browser").append(make("p", { class: "small" }, `This browser cannot list the items: ${error.message}`));
    }
  }
  follow();
  addEventListener("hashchange", follow);
})();