{
  const steps = [...document.querySelectorAll(".step")];
  const evidence = steps.filter(step => step.classList.contains("evidence"));
  const texts = steps.map(step => step.textContent.toLowerCase());
  let hits = [], at = -1;

  const element = (tag, attributes, ...children) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  };
  const said = element("span", { class: "small", role: "status" });
  const search = element("input", { type: "search", placeholder: "Search the steps ( / )", "aria-label": "Search the steps", spellcheck: "false" });
  const key = (name, does, act) => {
    const button = element("button", { type: "button" }, element("kbd", {}, name), ` ${does}`);
    button.addEventListener("click", act);
    return button;
  };
  (document.querySelector(".search") ?? document.body).append(element("div", { class: "tools" }, search, said,
    ...(evidence.length ? [key("e", "next finding", () => go(evidence, 1)), key("E", "previous", () => go(evidence, -1))] : []),
    key("n", "next match", () => go(hits, 1)), key("N", "previous", () => go(hits, -1))));

  const words = () => search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const find = () => {
    const wanted = words();
    hits = wanted.length ? steps.filter((_, place) => wanted.every(word => texts[place].includes(word))) : [];
    for (const step of steps) step.classList.toggle("hit", hits.includes(step));
    said.textContent = wanted.length ? `${hits.length} of ${steps.length} steps` : "";
  };

  /** Show the next of some steps after the one that was shown last, or the one before it. */
  const go = (places, by) => {
    if (!places.length) return;
    const beyond = places.filter(step => by > 0 ? steps.indexOf(step) > at : steps.indexOf(step) < at);
    const next = by > 0 ? beyond[0] ?? places[0] : beyond.at(-1) ?? places.at(-1);
    at = steps.indexOf(next);
    if ("open" in next) next.open = true;
    if (places === hits) {
      for (const folded of next.querySelectorAll("details")) {
        if (words().some(word => folded.textContent.toLowerCase().includes(word))) folded.open = true;
      }
    }
    next.tabIndex = -1;
    next.scrollIntoView({ block: "start" });
    next.focus({ preventScroll: true });
  };

  search.addEventListener("input", find);
  search.addEventListener("keydown", event => {
    if (event.key === "Enter") go(hits, 1);
    else if (event.key === "Escape" && !search.value) search.blur();
    event.stopPropagation();
  });
  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("textarea, input[type=search]")) return;
    const does = { n: [hits, 1], N: [hits, -1], ...(evidence.length ? { e: [evidence, 1], E: [evidence, -1] } : {}) };
    if (event.key === "/") search.focus();
    else if (event.key in does) go(...does[event.key]);
    else return;
    event.preventDefault();
  });
}
