addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  const button = document.querySelector(`.labelling button[data-key="${CSS.escape(event.key)}"]`);
  if (button) button.click();
});
