/** A text of which the middle may be left out; folded where it is long, unless all of it is wanted. */
const passage = (text, name = "", whole = false) => {
  if (!text?.start) return "";
  const shown = make("pre", { class: "wrap" }, said(text.start));
  if (text.cut) shown.append(make("span", { class: "cut" }, `${count(text.cut)} characters are not shown here`), said(text.end ?? ""));
  const folded = text.is_open === false && !whole;
  if (!folded && !name) return shown;
  return make("details", { open: !folded && whole }, make("summary", null, name, said(folded ? text.summary ?? "" : "")), shown);
};

const facts = pairs => make("dl", { class: "facts" }, pairs.map(([name, value]) =>
  make("div", null, make("dt", null, said(name)), make("dd", null, said(value)))));

/** What people said of an item. */
const people = (items, place) => {
  const given = items.raters
    .map((rater, number) => [rater, items.ratings[number][place]])
    .filter(([, label]) => label >= 0);
  const tied = items.gold[place] === TIED;
  return make("section", null,
    make("h3", null, "People"),
    make("p", null, "Gold label: ", make("b", null, said(items.gold_of(place)))),
    tied ? make("p", { class: "small" }, "The raters' labels tie: there is no gold label, and no score counts this item.") : "",
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
      make("b", null, said(answer)), outcome === answer ? "" : ` · ${outcome}`));
  if (outcome === NOT_ASKED) return section;
  if (one.rationale[place] && items.statuses[one.status[place]] === "unreadable") section.append(make("p", { class: "small" }, "What it replied:"));
  if (one.rationale[place]) section.append(make("p", { class: "reasons" }, said(one.rationale[place])));
  else if (one.label[place] >= 0) section.append(make("p", { class: "small" }, "It gave no reasons."));
  if (one.steps[place].length) {
    section.append(make("p", { class: "evidence-steps" }, "Evidence: ", one.steps[place].map((step, number) => [
      number ? ", " : "",
      items.run_of[place] ? make("button", { type: "button", class: "jump", on: { click: () => jump(step) } }, `step ${step}`) : `step ${step}`])));
  }
  if (one.error[place]) section.append(make("p", { class: "small" }, make("b", null, "Noted: "), said(one.error[place])));
  section.append(facts(spent(items, one, place)));
  return section;
};

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
  material.facts?.length ? facts(material.facts) : "",
];

/** The run that an item is about, with the steps that judges named as evidence marked; `told` is the item's own task. */
const run_of = (items, run, place, told) => {
  const named = new Map();
  items.runs.forEach((one, number) => {
    for (const step of one.steps[place]) {
      named.set(step, [...(named.get(step) ?? []), `${one.name}: ${items.answer(number, place)}`]);
    }
  });
  const left_out = n => n > 0 ? make("li", { class: "skipped" }, `${plural(n, "step")} not shown here.`) : "";
  const steps = run.steps ?? [];
  return [
    ...(run.task?.start && run.task.start !== told ? [make("h3", null, "Task"), passage({ ...run.task, is_open: true })] : []),
    make("h3", null, `Run of ${plural(run.n_steps, "step")}`),
    facts(run.facts ?? []),
    run.view ? make("p", { class: "small" }, "All of it, in the benchmark's folder: ", make("code", { class: "command" }, said(run.view))) : "",
    make("ol", { class: "steps" },
      steps.map(step => [left_out(step.skipped ?? 0), step_of(step, named.get(step.number) ?? [])]),
      left_out(run.n_steps - 1 - (steps.at(-1)?.number ?? -1))),
  ];
};

const step_of = (step, named) => {
  const whole = named.length > 0;
  return make("li", { class: `step ${step.role} ${whole ? "evidence" : ""}`, "data-step": step.number, tabindex: -1 },
    make("h4", null, `${step.number} ${step.role} `, step.speaker ? said(step.speaker) : "",
      step.facts ? make("small", null, said(` ${step.facts}`)) : ""),
    named.map(by => make("p", { class: "mark" }, make("b", null, "Evidence"), " of ", said(by))),
    passage(step.reasoning, "Reasoning ", whole),
    passage(step.text, "", whole),
    (step.calls ?? []).map(call => make("div", { class: "call" },
      make("p", null, make("span", { class: "small" }, "calls "), make("code", null, said(call.name)),
        call.problem ? [" ", make("span", { class: "status error" }, "arguments do not parse"), " ", said(call.problem)] : ""),
      make("dl", null, (call.arguments ?? []).map(([name, value]) =>
        make("div", null, name ? make("dt", null, said(name)) : "", make("dd", null, passage(value, "", whole))))))),
    (step.results ?? []).map(result => make("div", { class: `result ${result.failed ? "failed" : ""}` },
      make("p", null, make("span", { class: "small" }, "result", result.of ? [" of ", said(result.of)] : ""),
        result.failed ? [" ", make("span", { class: "status error" }, result.failed)] : "",
        result.text?.start ? "" : make("span", { class: "small" }, " (empty)")),
      passage(result.text, "", whole))));
};
