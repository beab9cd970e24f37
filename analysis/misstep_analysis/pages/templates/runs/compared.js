{
  const lines = [...document.querySelectorAll("tr.line")];
  const different = lines.filter(line => line.dataset.change !== "same");
  const texts = lines.map(line => line.textContent.toLowerCase());
  const count = new Intl.NumberFormat("en").format;
  let shown = "", at = -1;

  const make = (tag, attributes, ...children) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  };
  const search = make("input", { type: "search", placeholder: "Search the steps ( / )", "aria-label": "Search the steps", spellcheck: "false" });
  const said = make("p", { class: "small", role: "status" });
  const there = new Set(lines.map(line => line.dataset.change));
  const kinds = ["", "different", ...["changed", "only in A", "only in B", "same"].filter(kind => there.has(kind))];
  const is_of = (line, kind) => !kind || (kind === "different" ? line.dataset.change !== "same" : line.dataset.change === kind);
  const chips = kinds.map(kind => {
    const chip = make("button", { type: "button", class: "chip" }, `${kind || "all"} `, make("span", {}, count(lines.filter(line => is_of(line, kind)).length)));
    chip.addEventListener("click", () => { shown = shown === kind ? "" : kind; find(); });
    return chip;
  });
  const button = (key, does, act) => {
    const made = make("button", { type: "button", class: "chip" }, make("kbd", {}, key), ` ${does}`);
    made.addEventListener("click", act);
    return made;
  };
  document.querySelector(".filters").append(search, make("span", { role: "group", "aria-label": "Which steps" }, ...chips.flatMap(chip => [chip, " "])),
    button("d", "next difference", () => go(1)), button("D", "previous", () => go(-1)), said);

  const find = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let found = 0;
    lines.forEach((line, place) => {
      line.hidden = !is_of(line, shown) || !words.every(word => texts[place].includes(word));
      found += !line.hidden;
      if (!line.hidden && words.length) {
        for (const folded of line.querySelectorAll("details")) folded.open ||= words.some(word => folded.textContent.toLowerCase().includes(word));
      }
    });
    chips.forEach((chip, place) => chip.setAttribute("aria-pressed", String(kinds[place] === shown)));
    said.textContent = `${found === lines.length ? "" : `${count(found)} of `}${count(lines.length)} line${lines.length === 1 ? "" : "s"}`;
  };

  /** Show the next line in which the runs differ after the one that was shown last, or the one before it. */
  const go = by => {
    const places = different.filter(line => !line.hidden);
    if (!places.length) return;
    const beyond = places.filter(line => by > 0 ? lines.indexOf(line) > at : lines.indexOf(line) < at);
    const next = by > 0 ? beyond[0] ?? places[0] : beyond.at(-1) ?? places.at(-1);
    lines[at]?.classList.remove("here");
    at = lines.indexOf(next);
    next.classList.add("here");
    for (const whole of next.querySelectorAll("details.whole")) whole.open = true;
    next.tabIndex = -1;
    next.scrollIntoView({ block: "start" });
    next.focus({ preventScroll: true });
  };

  search.addEventListener("input", find);
  search.addEventListener("keydown", event => {
    if (event.key === "Escape" && !search.value) search.blur();
    event.stopPropagation();
  });
  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input")) return;
    if (event.key === "/") search.focus();
    else if (event.key === "d") go(1);
    else if (event.key === "D") go(-1);
    else return;
    event.preventDefault();
  });
  find();
}
