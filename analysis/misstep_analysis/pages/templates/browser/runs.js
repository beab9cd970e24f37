/** A text of which the middle may be left out; folded where it is long, unless all of it is wanted. */
const passage = (text, name = "", whole = false) => {
  if (!text?.start) return "";
  const looks = { "+": "added", "-": "removed" };
  const shown = make("pre", { class: "wrap" }, text.is_diff
    ? text.start.split("\n").map(line => make("span", { class: looks[line[0]] ?? "kept" }, said(line), "\n")) : said(text.start));
  if (text.cut) shown.append(make("span", { class: "cut" }, `${count(text.cut)} characters are not shown here`), said(text.end ?? ""));
  const folded = text.is_open === false && !whole;
  if (!folded && !name) return shown;
  return make("details", { open: !folded && whole }, make("summary", null, name, said(folded ? text.summary ?? "" : "")), shown);
};

const facts = pairs => make("dl", { class: "facts" }, pairs.map(([name, value]) =>
  make("div", null, make("dt", null, said(name)), make("dd", null, said(value)))));

/** A run, shortened: `named` says of which of its steps are evidence, step → words; `told` is a task that is shown already. */
const run_shown = (run, named, { told = "", all = "All of it: ", title = "Run" } = {}) => {
  const left_out = n => n > 0 ? make("li", { class: "skipped" }, `${plural(n, "step")} not shown here.`) : "";
  const steps = run.steps ?? [];
  return [
    ...(run.task?.start && run.task.start !== told ? [make("h3", null, "Task"), passage({ ...run.task, is_open: true })] : []),
    make("h3", null, `${title} of ${plural(run.n_steps, "step")}`),
    facts(run.facts ?? []),
    run.view ? make("p", { class: "small" }, all, make("code", { class: "command" }, said(run.view))) : "",
    make("ol", { class: "steps" },
      steps.map(step => [left_out(step.skipped ?? 0), step_of(step, named.get(step.number) ?? [])]),
      left_out(run.n_steps - 1 - (steps.at(-1)?.number ?? -1))),
  ];
};

/** Steps as buttons that show them. */
const step_links = (steps, jump) => steps.map((step, number) => [
  number ? ", " : "",
  jump ? make("button", { type: "button", class: "jump", on: { click: () => jump(step) } }, `step ${step}`) : `step ${step}`]);

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
