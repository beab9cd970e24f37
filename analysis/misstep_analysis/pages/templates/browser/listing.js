const ROWS_BEYOND = 8;

/** Bring a step to the top; again once what came into view on the way has its own height, until nothing moves. */
const bring = (step, times = 5) => {
  const { top } = step.getBoundingClientRect();
  step.scrollIntoView({ block: "start" });
  if (times && top !== step.getBoundingClientRect().top) requestAnimationFrame(() => requestAnimationFrame(() => bring(step, times - 1)));
};

/**
 * A list of things in a section of the page, with its filters, and the one that is opened.
 *
 * A page's own class says what there is: `select` the places that are wanted, `cells` of a row, `aside` and `about` of
 * what is opened, and `refresh` of what depends on the state. Everything but the list and the opened thing stays as it is.
 */
class Listing {
  constructor(section, { noun, names, start }) {
    Object.assign(this, { section, noun, names, start, state: { ...start }, found: [], at: 0, opened: null, choices: new Map(), selected: new Set() });
  }

  /**
   * Build the list: what its search says, its columns (name, words, width, class) and the narrowest it may be in rem.
   * With `actions` (words → the command lines for selected places) its rows can be selected.
   */
  build({ search, filters = [], columns, narrowest, aside, actions = {} }) {
    const { noun } = this;
    this.actions = Object.entries(actions);
    this.aside_label = aside;
    this.search = make("input", {
      type: "search", placeholder: search, "aria-label": `Search ${noun}s`, spellcheck: "false",
      on: { input: () => this.change({ q: this.search.value }), keydown: event => this.in_search(event) },
    });
    this.chips = make("div", { class: "chips", role: "group", "aria-label": `Which ${noun}s` });
    this.status = make("p", { class: "small", role: "status" });
    this.rows = make("div", { class: "rows", role: "rowgroup" });
    this.heads = columns.map(({ name, words, kind = "" }) => make("div", { role: "columnheader", class: kind, "data-name": name },
      make("button", { type: "button", title: "Sort by this column", on: { click: () => this.sort_by(name) } }, said(words))));
    this.list = make("div", {
      class: "list", role: "grid", tabindex: 0, "aria-label": `${noun[0].toUpperCase()}${noun.slice(1)}s`, "aria-colcount": columns.length,
      on: { scroll: () => this.draw_soon(), keydown: event => this.in_list(event) },
    }, make("div", { class: "head row", role: "row", "aria-rowindex": 1 }, this.heads), this.rows);
    this.list.style.setProperty("--columns", columns.map(column => column.width).join(" "));
    this.section.querySelector(".browser").classList.toggle("selecting", this.actions.length > 0);
    this.list.style.setProperty("--narrowest", `${narrowest}rem`);
    const keys = [["/", "search"], ["j", "next"], ["k", "previous"], ["Enter", "open"], ...(this.actions.length ? [["x", "select"]] : [])];
    this.doing = make("div", { class: "doing" });
    this.section.querySelector(".browser").append(
      make("div", { class: "controls" }, this.search, filters), this.chips,
      make("div", { class: "said" }, this.status,
        make("p", { class: "small keys" }, keys.map(([key, does]) => [make("kbd", null, key), ` ${does} `]))),
      this.list, this.doing);
    this.dialog = make("dialog", {
      class: "opened", "aria-labelledby": `${this.section.id}-title`,
      on: { close: () => this.closed(), keydown: event => this.in_dialog(event),
        click: event => event.target === this.dialog && this.dialog.close() },
    });
    this.section.append(this.dialog);
    this.section.classList.add("scripted");
    addEventListener("resize", () => this.draw_soon());
    this.update();
  }

  /** A filter of the list: a select of values, each with the words for it. */
  choice(name, label, values) {
    const select = make("select", { "aria-label": label, on: { change: () => this.change({ [name]: select.value }) } });
    this.choices.set(name, select);
    this.offer(name, values);
    return select;
  }

  /** Filters by what each thing has of some fields: name → words for any value; those with one value only are left out. */
  choices_of(any, values_in_order) {
    return Object.entries(any).map(([name, words]) => {
      const counts = new Map();
      for (let place = 0; place < this.names.length; place++) {
        for (const value of this.values[name](place)) if (value) counts.set(value, (counts.get(value) ?? 0) + 1);
      }
      const values = values_in_order(name, [...counts]);
      const select = this.choice(name, words, [["", words], ...values.map(([value, n]) => [value, `${value} (${count(n)})`])]);
      return values.length > 1 ? select : "";
    });
  }

  /** The places of the things that have what is chosen and all words that are searched for, in order. */
  chosen({ q, sort, down }, is_wanted = () => true) {
    const words = words_of(q);
    const asked = [...this.choices].filter(([, select]) => select.value).map(([name, select]) => [name, select.value]);
    const found = [];
    for (let place = 0; place < this.names.length; place++) {
      if (is_wanted(place) && asked.every(([name, value]) => this.values[name](place).includes(value))
        && words.every(word => this.haystacks[place].includes(word))) found.push(place);
    }
    return sort ? sorted(found, this.keys[sort], down) : found;
  }

  offer(name, values) {
    const select = this.choices.get(name);
    select.replaceChildren(...values.map(([value, words]) => make("option", { value }, words)));
    select.value = this.state[name];
  }

  /** The kinds of things there are, each with how many, as buttons that show only them. */
  show_kinds(kinds) {
    this.chips.replaceChildren(...[...kinds].map(([kind, n]) => make("button", {
      type: "button", "aria-pressed": String(this.state.show === kind), class: `chip ${kind.replaceAll(" ", "-")}`,
      on: { click: () => this.change({ show: this.state.show === kind ? "" : kind }) },
    }, `${kind || "all"} `, make("span", null, count(n)))));
  }

  refresh() {}

  first_falls() {
    return false;
  }

  sort_by(name) {
    const { sort, down } = this.state;
    const first = this.first_falls(name);
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
    const { names, state, noun } = this;
    for (const [name, select] of this.choices) select.value = state[name];
    if (this.search.value !== state.q) this.search.value = state.q;
    this.found = this.select(state);
    this.refresh();
    for (const head of this.heads) {
      const by = head.dataset.name === state.sort;
      head.setAttribute("aria-sort", by ? (state.down ? "descending" : "ascending") : "none");
    }
    const of = this.found.length === names.length ? "" : ` of ${count(names.length)}`;
    this.status.textContent = `${count(this.found.length)}${of} ${noun}${names.length === 1 ? "" : "s"}`;
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
    const place = this.found[number];
    const row = make("div", {
      class: `row ${number === this.at ? "current" : ""}`, role: "row", id: `${this.section.id}-row-${number}`,
      "aria-rowindex": number + 2, "aria-selected": String(number === this.at),
      on: { click: () => { this.move_to(number); this.open(place); } },
    }, this.actions.length ? this.selecting(place) : "", this.cells(place));
    row.style.top = `${number * height}px`;
    return row;
  }

  selecting(place) {
    return make("input", {
      type: "checkbox", class: "select", checked: this.selected.has(place), "aria-label": `Select ${this.title_of(place)}`,
      on: { click: event => { event.stopPropagation(); this.select_row(place); } },
    });
  }

  select_row(place) {
    if (!this.selected.delete(place)) this.selected.add(place);
    this.draw();
    const places = [...this.selected].sort((a, b) => a - b);
    const lines = make("div", { role: "status" });
    const show = of => lines.replaceChildren(make("pre", { class: "wrap command" }, said(of(places).join("\n"))),
      make("p", { class: "small" }, `These lines take all ${this.noun}s of the files.`));
    this.doing.replaceChildren(...(places.length ? [
      make("span", { class: "small" }, `${plural(places.length, this.noun)} selected: `),
      this.actions.map(([words, of]) => [make("button", { type: "button", class: "chip", on: { click: () => show(of) } }, words), " "]),
      lines] : []).flat(2));
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
    else if (event.key === "x" && this.found.length && this.actions.length) this.select_row(this.found[this.at]);
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
    bring(step);
    step.focus({ preventScroll: true });
  }

  /** Show a step of what is opened, by its number. */
  jump(step) {
    this.show_step(this.dialog.querySelector(`[data-step="${step}"]`));
  }

  title_of(place) {
    return this.names[place];
  }

  async open(place) {
    this.opened = place;
    const { noun } = this;
    const title = make("h2", { id: `${this.section.id}-title`, tabindex: 0, autofocus: true }, said(this.title_of(place)));
    const number = this.found.indexOf(place);
    const button = (words, label, does) => make("button", { type: "button", "aria-label": label, title: label, on: { click: does } }, words);
    const about = make("div", { class: "about" }, make("p", { class: "small" }, "Opening …"));
    const aside = make("aside", { tabindex: 0, "aria-label": this.aside_label }, this.aside(place));
    this.dialog.replaceChildren(
      make("header", null, title, make("p", { class: "small" }, number < 0 ? "" : `${count(number + 1)} of ${count(this.found.length)}`),
        button("←", `Previous ${noun} (k)`, () => this.turn(-1)), button("→", `Next ${noun} (j)`, () => this.turn(1)),
        button("×", "Close (Esc)", () => this.dialog.close())),
      make("div", { class: "two" }, aside, about));
    if (!this.dialog.open) this.dialog.showModal();
    title.focus();
    this.dialog.scrollTop = 0;
    this.keep_address();
    const shown = await this.about(place, aside);
    if (this.opened === place) about.replaceChildren(...shown.filter(Boolean));
  }

  /** A part of the page's data by its name; `null` if there is none. */
  async part(name) {
    return name ? read(`${this.section.id}-${name}`) : null;
  }

  closed() {
    this.opened = null;
    this.dialog.replaceChildren();
    this.list.focus();
    this.keep_address();
  }

  keep_address() {
    clearTimeout(this.keeping);
    this.keeping = setTimeout(() => this.write_address(), 150);
  }

  write_address() {
    const parts = new URLSearchParams();
    for (const [name, value] of Object.entries(this.state)) if (value !== this.start[name]) parts.set(name, value);
    if (this.opened !== null) parts.set(this.noun, this.names[this.opened]);
    history.replaceState(null, "", `#${this.section.id}?${parts}`);
  }

  /** The state that an address names, as far as there is what it names. */
  named_state(parts) {
    const state = Object.fromEntries(Object.entries(this.start).map(([name, value]) => [name, parts.get(name) ?? value]));
    for (const [name, select] of this.choices) {
      if (![...select.options].some(option => option.value === state[name])) state[name] = this.start[name];
    }
    return state;
  }

  follow(parts) {
    this.state = { ...this.named_state(parts), down: parts.get("down") === "true" };
    if (!this.heads.some(head => head.dataset.name === this.state.sort)) this.state.sort = "";
    this.update();
    const place = parts.has(this.noun) ? this.names.indexOf(parts.get(this.noun)) : -1;
    if (place < 0) return;
    const number = this.found.indexOf(place);
    if (number >= 0) this.move_to(number);
    this.open(place);
  }
}

const listings = new Map();
const follow = () => {
  const [id, parts] = location.hash.slice(1).split(/\?(.*)/s);
  if (parts !== undefined) listings.get(id)?.follow(new URLSearchParams(parts));
};

/** List what each section of a selector holds: `create` makes its listing of the section and its index. */
const list_sections = async (selector, create) => {
  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (event.target.closest?.("input, select, textarea")) return;
    const listing = listings.get(document.activeElement?.closest(selector)?.id) ?? listings.values().next().value;
    if (!listing) return;
    if (event.key === "/") listing.search.focus();
    else if (["j", "k", "x"].includes(event.key)) { listing.list.focus(); listing.in_list(event); }
    else if (event.key === "Enter" && event.target === document.body && listing.found.length) listing.open(listing.found[listing.at]);
    else return;
    event.preventDefault();
  });
  for (const section of document.querySelectorAll(selector)) {
    try {
      listings.set(section.id, create(section, await read(`${section.id}-index`)));
    } catch (error) {
      section.querySelector(".browser").append(make("p", { class: "small" }, `This browser cannot show the list: ${error.message}`));
    }
  }
  follow();
  addEventListener("hashchange", follow);
};
