/** A subcategory behind its label; nothing if there is none. */
const finer = name => name ? [", ", said(name.replaceAll("_", " "))] : "";

/** What people said of an item. */
const people = (items, place) => {
  const given = items.raters
    .map((rater, number) => [rater, items.ratings[number][place]])
    .filter(([, label]) => label >= 0);
  const tied = items.gold[place] === TIED;
  return make("section", null,
    make("h3", null, "People"),
    make("p", null, "Gold label: ", make("b", null, said(items.gold_of(place))), finer(items.gold_subcategories[place])),
    tied ? make("p", { class: "small" }, "The raters' labels tie, so the item has no gold label, and no score counts it.") : "",
    make("dl", { class: "raters" }, given.map(([rater, label]) =>
      make("div", null, make("dt", null, said(rater)), make("dd", null, said(items.labels[label]))))));
};

/** What one run's judge said of an item; `jump` shows a step. */
const judge = (items, run, place, jump) => {
  const one = items.runs[run];
  const outcome = items.outcome(run, place), answer = items.answer(run, place);
  const section = make("section", { class: "judge" },
    make("h3", null, said(one.name)),
    make("p", { class: `verdict ${kind_of(outcome)}` },
      make("span", { class: "mark-of", "aria-hidden": "true" }, mark_of(outcome)), " ",
      make("b", null, said(answer)), finer(one.subcategory[place]),
      outcome === answer || !items.has_gold ? "" : ` · ${outcome}`));
  if (outcome === NOT_ASKED) return section;
  if (one.rationale[place] && items.statuses[one.status[place]] === "unreadable") section.append(make("p", { class: "small" }, "What it replied:"));
  if (one.rationale[place]) section.append(make("p", { class: "reasons" }, said(one.rationale[place])));
  else if (one.label[place] >= 0) section.append(make("p", { class: "small" }, "It gave no reasons."));
  if (one.steps[place].length) {
    section.append(make("p", { class: "evidence-steps" }, "Evidence: ", step_links(one.steps[place], items.run_of[place] ? jump : null)));
  }
  if (one.orders[place]?.length) section.append(orders(one.orders[place]));
  if (one.evidence[place]?.length) section.append(evidence(one.evidence[place]));
  if (one.error[place]) section.append(make("p", { class: "small" }, make("b", null, "Noted: "), said(one.error[place])));
  section.append(facts(spent(items, one, place)));
  return section;
};

/** The evidence of a verdict of triage: kind, place and words of each piece. */
const evidence = pieces => make("ul", { class: "evidence" }, pieces.map(([kind, where, text]) =>
  make("li", null,
    kind ? make("p", { class: "small" }, make("b", null, kind), " ", make("code", null, said(where))) : "",
    text ? make("pre", null, said(text)) : "")));

/** The answer on a pair in each order in which the judge saw it. */
const orders = answers => make("dl", { class: "raters" }, answers.map(([first, answer, reason]) =>
  make("div", { title: reason }, make("dt", null, `Output ${first.toUpperCase()} first`), make("dd", null, said(answer)))));

/** What an answer took, and who gave it. */
const spent = (items, one, place) => {
  const [input, output] = [one.input_tokens[place], one.output_tokens[place]];
  return [
    ["Score", one.score[place]?.toFixed(2)],
    ["Cost", one.cost_usd[place] === null ? "not known" : money(one.cost_usd[place])],
    ["Time", one.seconds[place] === null ? null : `${one.seconds[place].toPrecision(3)} s`],
    ["Tokens", input === null && output === null ? null : `${count(input ?? 0)} in, ${count(output ?? 0)} out`],
    ["Model", items.models[one.model[place]]],
    ["Prompt", items.prompts[one.prompt[place]]],
    ["Answer", one.cached[place] ? "kept from an earlier run" : null],
  ].filter(([, value]) => value !== null && value !== undefined);
};

/** The item's own text. */
const texts = material => [
  ...[["Task", material.task], ["Text", material.text], ["Patch", material.patch]]
    .filter(([, text]) => text?.start)
    .flatMap(([name, text]) => [make("h3", null, name), passage({ ...text, is_open: true })]),
  material.output_a || material.output_b ? outputs(material) : "",
  material.facts?.length ? facts(material.facts) : "",
];

/** Both outputs of a pair, side by side. */
const outputs = material => {
  const known = new Map(material.facts);
  return make("div", { class: "figures" }, ["a", "b"].map(name => {
    const system = known.get(`system_${name}`), text = material[`output_${name}`];
    return make("section", null,
      make("h3", null, `Output ${name.toUpperCase()}`, ...(system ? [": ", said(system)] : [])),
      text?.start ? passage({ ...text, is_open: true }) : make("p", { class: "small" }, "It is empty."));
  }));
};

/** The steps that judges named as evidence, each with who named it. */
const named_in = (items, place) => {
  const named = new Map();
  items.runs.forEach((one, number) => {
    for (const step of one.steps[place]) {
      named.set(step, [...(named.get(step) ?? []), `${one.name}: ${items.answer(number, place)}`]);
    }
  });
  return named;
};
