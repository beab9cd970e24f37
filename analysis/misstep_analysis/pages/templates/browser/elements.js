const count = new Intl.NumberFormat("en").format;
const plural = (n, word) => `${count(n)} ${word}${n === 1 ? "" : "s"}`;

const make = (tag, attributes, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (name === "on") for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(2).filter(child => child !== "" && child !== null && child !== undefined));
  return element;
};
const said = text => make("bdi", null, text);

async function read(id) {
  const given = JSON.parse(document.getElementById(id).textContent);
  if (typeof given !== "string") return given;
  const bytes = Uint8Array.from(atob(given), letter => letter.charCodeAt(0));
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(unpacked).text());
}

const money = value => value === 0 ? "$0" : value < 0.01 ? `$${value.toPrecision(2)}` : `$${value.toFixed(2)}`;

const order = new Intl.Collator("en", { numeric: true }).compare;
const COMPARED = 60;
/** Places by a key: numbers, and texts by their first letters, in their order; those without a key last. */
const sorted = (places, key, down) => {
  const turn = down ? -1 : 1;
  const start = value => typeof value === "string" ? value.slice(0, COMPARED) : value;
  return places.map(place => [start(key(place)), place]).sort(([a, first], [b, second]) =>
    a === null || b === null ? (a === null) - (b === null) || first - second
    : turn * (typeof a === "number" ? a - b : order(a, b)) || first - second).map(([, place]) => place);
};
/** What is searched for, as words that all must be there. */
const words_of = query => query.toLowerCase().split(/\s+/).filter(Boolean);
