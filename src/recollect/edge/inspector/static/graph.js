// The links of a memory, two steps far, laid out by forces. Without this file the server's picture stays.
"use strict";
(() => {
  const svg = document.querySelector("svg.graph[data-of]");
  const button = document.querySelector("[data-walk]");
  if (!svg || !button || !window.d3?.forceSimulation) return;
  const [width, height] = [640, 460];
  const make = (name, attributes, text) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text) made.textContent = text;
    return made;
  };
  // As the server writes addresses: a name that ends in .json is a name.
  const address = (id) => `/pak/${encodeURIComponent(id).replace(/\.json$/, "%2Ejson")}`;
  const around = async (id) => {
    const answer = await fetch(`${address(id)}.json`, { headers: { accept: "application/json" } });
    return answer.ok ? (await answer.json()).points : [];
  };

  const walked = async (id) => {
    const nodes = new Map([[id, { id, step: 0, title: "", fx: 0, fy: 0 }]]);
    const links = new Map();
    const join = (from, points, step) => {
      for (const one of points) {
        if (!nodes.has(one.pak_id)) nodes.set(one.pak_id, { id: one.pak_id, step, title: one.title });
        const pair = [from, one.pak_id].sort().join("\n");
        if (!links.has(pair)) links.set(pair, { source: from, target: one.pak_id, weight: one.weight, automatic: one.automatic });
      }
    };
    const near = await around(id);
    join(id, near, 1);
    const far = await Promise.all(near.map((one) => around(one.pak_id)));
    near.forEach((one, at) => join(one.pak_id, far[at].slice(0, 4), 2));
    return { nodes: [...nodes.values()], links: [...links.values()] };
  };

  const settle = ({ nodes, links }) => {
    nodes.forEach((one, at) => { one.x ??= 60 * one.step * Math.cos(2.4 * at); one.y ??= 60 * one.step * Math.sin(2.4 * at); });
    d3.forceSimulation(nodes)
      .force("link", d3.forceLink(links).id((one) => one.id).distance(80))
      .force("apart", d3.forceManyBody().strength(-300))
      .force("labels", d3.forceCollide(38))
      .stop()
      .tick(300);
    // Names are wider than they are high: so is what they stand in.
    const most = (way) => Math.max(1, ...nodes.map((one) => Math.abs(one[way])));
    const across = Math.min(1.8, (width / 2 - 76) / most("x"));
    const down = Math.min(1.2, (height / 2 - 34) / most("y"));
    for (const one of nodes) {
      one.x = width / 2 + across * one.x;
      one.y = height / 2 + down * one.y;
    }
  };

  const short = (title) => (title.length > 20 ? `${title.slice(0, 19).trimEnd()}…` : title);
  const draw = ({ nodes, links }) => {
    const lines = links.map((one) => make("line", {
      x1: one.source.x, y1: one.source.y, x2: one.target.x, y2: one.target.y,
      "stroke-width": (1 + 4 * one.weight).toFixed(1), class: one.automatic ? "alike" : "said",
    }));
    const points = nodes.map((one) => {
      if (!one.step) return make("circle", { cx: one.x, cy: one.y, r: 11, class: "here" });
      const link = make("a", { href: address(one.id) });
      link.append(
        make("title", {}, one.title),
        make("circle", { cx: one.x, cy: one.y, r: one.step === 1 ? 8 : 6 }),
        make("text", { x: one.x, y: one.y + (one.step === 1 ? 21 : -12), "text-anchor": "middle" }, short(one.title)),
      );
      return link;
    });
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("aria-label", `${nodes.length - 1} memories within two steps`);
    svg.replaceChildren(...lines, ...points);
  };

  button.hidden = false;
  button.addEventListener("click", async () => {
    button.disabled = true;
    const found = await walked(svg.dataset.of);
    settle(found);
    draw(found);
    button.hidden = true;
    svg.dataset.steps = "2";
  });
})();
