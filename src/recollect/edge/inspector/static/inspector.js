// Keys, the list of keys, and copying. Every page works without this file.
"use strict";
(() => {
  const places = { a: "/ask", f: "/frame", k: "/keep" };
  let waitsForPlace = false;

  const isTyping = (target) =>
    target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);

  const items = () => [...document.querySelectorAll("[data-item]")].filter((one) => one.offsetParent);

  const move = (by) => {
    const all = items();
    if (!all.length) return;
    const at = all.findIndex((one) => one === document.activeElement || one.contains(document.activeElement));
    const next = all[Math.min(all.length - 1, Math.max(0, at + by))];
    next.focus();
    next.scrollIntoView({ block: "nearest" });
  };

  const open = (item) => {
    const link = item.matches("a") ? item : item.querySelector("a[href]");
    if (link) link.click();
  };

  const copy = async (button) => {
    const source = document.getElementById(button.dataset.copy);
    if (!source) return;
    await navigator.clipboard.writeText(source.dataset.text ?? source.textContent);
    const before = button.textContent;
    button.textContent = "Copied";
    button.dataset.copied = "";
    setTimeout(() => { button.textContent = before; }, 1500);
  };

  const acts = {
    "/": () => { const field = document.querySelector("main [data-key='/']") || document.querySelector("[data-key='/']"); if (field) { field.focus(); field.select(); } },
    "?": () => document.getElementById("keys")?.showModal(),
    j: () => move(1),
    k: () => move(-1),
    c: () => { const button = document.querySelector("[data-copy]"); if (button) copy(button); },
    g: () => { waitsForPlace = true; },
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (isTyping(event.target)) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    if (document.querySelector("dialog[open]")) return;
    // The key after `g` names a place; one that does not is itself again.
    const place = waitsForPlace && places[event.key];
    waitsForPlace = false;
    if (place) {
      event.preventDefault();
      location.assign(place);
      return;
    }
    if (event.key === "Enter" && event.target.matches?.("[data-item]")) {
      event.preventDefault();
      open(event.target);
      return;
    }
    const act = acts[event.key];
    if (act) { event.preventDefault(); act(); }
  });

  document.addEventListener("click", (event) => {
    const opener = event.target.closest("[data-open]");
    if (opener) document.getElementById(opener.dataset.open)?.showModal();
    const copier = event.target.closest("[data-copy]");
    if (copier) copy(copier);
  });

  document.querySelectorAll("[data-open][hidden], [data-copy][hidden]").forEach((one) => { one.hidden = false; });
  // On a phone the pages are one line: the one that is open is in sight.
  const bar = document.querySelector(".places");
  const shown = bar?.querySelector("[aria-current]");
  if (shown) {
    const [line, here] = [bar.getBoundingClientRect(), shown.getBoundingClientRect()];
    bar.scrollLeft += here.left - line.left - (line.width - here.width) / 2;
  }
  // A choice that changes the page is sent at once; without this there is a button for it.
  document.querySelectorAll("form[data-live]").forEach((form) => {
    form.addEventListener("change", () => form.requestSubmit());
  });
  // What is walked through with keys takes the focus, also if it is no link.
  document.querySelectorAll("[data-item]:not([tabindex], a)").forEach((one) => { one.tabIndex = -1; });
  // From here on keys are heard; whoever drives the page waits for it.
  document.documentElement.dataset.listens = "";
})();
