{
  const form = document.getElementById("answer");
  const said = form.querySelector(".said");
  const note = form.elements.note;
  const steps = [...document.querySelectorAll(".step")];
  const boxes = [...document.querySelectorAll("input[name=step]")];
  const fieldsets = [...form.querySelectorAll(".finer")];
  const sends = form.querySelector("[type=submit]") !== null;
  let at = -1;

  const chosen = name => form.querySelector(`input[name="${CSS.escape(name)}"]:checked`);
  const tell = (text, bad = false) => {
    said.textContent = text;
    said.classList.toggle("bad", bad);
  };

  /** Show the kinds of the label that is chosen, and what is marked. */
  const show = () => {
    const label = chosen("label")?.value;
    for (const one of fieldsets) one.hidden = one.dataset.of !== label;
    form.querySelector(".certainty").hidden = label === "";
    const marked = boxes.filter(box => box.checked);
    for (const box of boxes) document.getElementById(`step-${box.value}`).classList.toggle("chosen", box.checked);
    form.querySelector(".chosen-steps").replaceChildren(...(marked.length ? ["Evidence: ", ...marked.flatMap((box, place) => {
      const link = document.createElement("a");
      link.href = `#step-${box.value}`;
      link.textContent = `step ${box.value}`;
      return place ? [", ", link] : [link];
    })] : ["No step is marked as evidence."]));
  };

  /* What is not saved yet stays in this tab's storage, under the case, the phase and what was known of it. */
  let seconds = 0, since = document.hidden ? null : performance.now();
  /** How long the page has been before somebody's eyes, in this tab and before a reload. */
  const looked = () => Math.round(seconds + (since === null ? 0 : (performance.now() - since) / 1000));
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) seconds = looked();
    since = document.hidden ? null : performance.now();
  });
  const drawer = `misstep ${location.pathname}`;
  const fields = () => [...new FormData(form)].filter(([name]) => !["token", "item", "phase", "revision", "seconds"].includes(name));
  const remember = () => {
    try {
      localStorage.setItem(drawer, JSON.stringify({ of: form.dataset.draft, seconds: looked(), fields: fields() }));
    } catch { /* a browser without storage loses what was not saved, and nothing else */ }
  };
  const forget = () => { try { localStorage.removeItem(drawer); } catch { /* as above */ } };
  const restore = () => {
    let draft = null;
    try { draft = JSON.parse(localStorage.getItem(drawer)); } catch { /* as above */ }
    if (!sends || !draft) return;
    if (draft.of !== form.dataset.draft) return forget();
    seconds = draft.seconds;
    for (const box of boxes) box.checked = draft.fields.some(([name, value]) => name === "step" && value === box.value);
    for (const [name, value] of draft.fields) {
      if (name === "note") note.value = value;
      else if (name !== "step") for (const one of form.querySelectorAll(`input[name="${CSS.escape(name)}"]`)) one.checked = one.value === value;
    }
    tell("Restored what you had entered; it is not saved yet.");
  };

  /** What is still to be said, as a sentence, and where; nothing where the answer is whole. */
  const lacking = () => {
    const label = chosen("label");
    if (!label) return ["Choose a label.", form.querySelector(".labels")];
    if (label.value === "") return note.value.trim() ? [] : ["Say in the note why it cannot be told.", note];
    const kinds = fieldsets.find(one => one.dataset.of === label.value);
    if (kinds && !chosen(`subcategory ${label.value}`)) return ["Choose a kind.", kinds];
    return chosen("certainty") ? [] : ["Say how certain you are.", form.querySelector(".certainty")];
  };
  const send = async () => {
    const [lacks, where] = lacking();
    if (lacks) {
      where.scrollIntoView({ block: "nearest" });
      return tell(lacks, true);
    }
    remember();
    form.elements.seconds.value = looked();
    tell("Saving…");
    for (const button of form.querySelectorAll("button")) button.disabled = true;
    try {
      const reply = await fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)) });
      if (reply.ok) {
        forget();
        location.assign(reply.url);
        return;
      }
      tell(`Not saved. ${await reply.text()}`, true);
    } catch {
      tell("Not saved: the server does not answer. Start it again by the same line, then save again; this tab keeps what you entered.", true);
    }
    for (const button of form.querySelectorAll("button")) button.disabled = false;
  };
  form.noValidate = true;
  form.addEventListener("submit", event => {
    event.preventDefault();
    send();
  });
  for (const what of [form, ...boxes]) what.addEventListener("input", () => { show(); remember(); });
  restore();
  show();

  const walk = by => {
    at = Math.min(Math.max(at + by, 0), steps.length - 1);
    const step = steps[at];
    if (!step) return;
    step.open = true;
    step.tabIndex = -1;
    step.scrollIntoView({ block: "nearest" });
    step.focus({ preventScroll: true });
  };
  const fold = () => {
    const open = !steps.every(step => step.open);
    for (const step of steps) step.open = open;
  };
  const mark = () => {
    const step = document.activeElement?.closest(".step") ?? steps[at];
    const box = boxes[steps.indexOf(step)];
    if (box) {
      box.checked = !box.checked;
      box.dispatchEvent(new Event("input"));
    }
  };
  const turn = by => {
    const links = [...document.querySelectorAll(".cases a")];
    const here = links.findIndex(link => link.classList.contains("here"));
    links[(here + by + links.length) % links.length]?.click();
  };
  const does = { j: () => walk(1), k: () => walk(-1), o: fold, x: mark, m: () => note.focus(), "]": () => turn(1), "[": () => turn(-1),
    "?": () => { const keys = form.querySelector(".keys"); keys.open = !keys.open; } };
  note.addEventListener("keydown", event => {
    if (event.key === "Escape") note.blur();
    else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send();
  });
  document.addEventListener("focusin", event => {
    const step = event.target.closest?.(".step");
    if (step) at = steps.indexOf(step);
  });
  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    if (event.target.closest("textarea, input[type=search]")) return;
    if (event.key === "Enter") {
      if (event.target.closest("summary, button, a")) return;
      if (sends) send();
    } else if (event.key in does) does[event.key]();
    else {
      const fits = [...form.querySelectorAll("input[data-key]")].find(one => one.dataset.key === event.key && !one.disabled && !one.closest("[hidden]"));
      if (!fits) return;
      fits.checked = true;
      fits.dispatchEvent(new Event("input", { bubbles: true }));
    }
    event.preventDefault();
  });
}
