"use strict";
// Pan, zoom, search, paths, groups and explanations. Where boxes are comes from the page's data; `place`, `trace` and
// `draw_path` are those of layout.py and svg_picture.py, so that opening a group moves only what is beside and below it.
const data = JSON.parse(document.getElementById("data").textContent);
const canvas = document.querySelector(".canvas");
const scene = document.getElementById("scene");
const panel = document.querySelector(".panel");
const search = document.getElementById("search");
const list = document.getElementById("list");
const SVG = "http://www.w3.org/2000/svg";
const MAX_LISTED = 60; // matches, and rows of the panel, that are listed at once
const MIN_SCALE = 0.05, MAX_SCALE = 4, READABLE = 0.7;
const state = { view: "grouped", opened: new Set(data.opened), selected: null, matches: [], current: -1, x: 0, y: 0, scale: 1 };
let drawn = null; // places, bounds and elements of the last drawing

// --- layout ---------------------------------------------------------------------------------------------------------
const view = () => data.views[state.view];
const owner_of = (topic) => (state.view === "grouped" && data.topics[topic].group) || topic;
const is_open = (key) => state.opened.has(key);
const visible = (topic) => { const owner = owner_of(topic); return owner === topic || is_open(owner) ? topic : owner; };

function measure(key) {
  const group = view().groups[key];
  if (group) return is_open(key) ? [group.width, group.height] : [group.closed, data.sizes.group];
  const box = view().boxes[key];
  return box ? [box[0], data.sizes.box] : [0, 0];
}

function place() {
  const places = {}, bends = {};
  let top = 0;
  for (const shelf of view().shelves) {
    let left = 0, tallest = 0;
    for (const component of shelf) {
      for (const column of component.columns) {
        const width = Math.max(...column.map(([key]) => measure(key)[0]));
        let y = top;
        for (const [key, gap, bend] of column) {
          y += gap;
          if (bend) {
            bends[key] = [left, y + bend / 2, left + width];
            y += bend;
            continue;
          }
          const [own, height] = measure(key);
          places[key] = [left, y, own, height];
          if (view().groups[key] && is_open(key)) {
            for (const [topic, [x, inner, w, h]] of Object.entries(view().groups[key].places)) places[topic] = [left + x, y + inner, w, h];
          }
          y += height;
        }
        tallest = Math.max(tallest, y - top);
        left += width + data.sizes.columnGap;
      }
    }
    top += tallest + data.sizes.shelfGap;
  }
  return [places, bends];
}

function trace(link, places, bends, routes) {
  const owners = [owner_of(link.source), owner_of(link.target)];
  const shift = (owner, segments) => segments.map(([a, y, b]) => [places[owner][0] + a, places[owner][1] + y, places[owner][0] + b]);
  const inside = (topic, owner, side) => (view().groups[owner] && is_open(owner) ? shift(owner, view().groups[owner][side][topic]) : []);
  let forward, left, right, middle;
  if (owners[0] === owners[1]) {
    const inner = view().groups[owners[0]].routes;
    forward = `${link.source} ${link.target}` in inner;
    [left, right] = forward ? [link.source, link.target] : [link.target, link.source];
    middle = shift(owners[0], inner[`${left} ${right}`]);
  } else {
    forward = `${owners[0]} ${owners[1]}` in routes;
    [left, right] = forward ? [link.source, link.target] : [link.target, link.source];
    const ends = forward ? owners : [owners[1], owners[0]];
    middle = [...inside(left, ends[0], "exits"), ...routes[ends.join(" ")].map((key) => [...bends[key]]), ...inside(right, ends[1], "entries")];
  }
  const start = places[visible(left)], end = places[visible(right)];
  const x = start[0] + start[2];
  return [[[x, start[1] + start[3] / 2, x], ...middle, [end[0], end[1] + end[3] / 2, end[0]]], forward];
}

function draw_path(segments, forward, directed) {
  let way = segments.map((segment) => [...segment]);
  if (!forward) way = way.reverse().map(([a, y, b]) => [b, y, a]);
  if (directed) way[way.length - 1][0] += forward ? -data.sizes.arrow : data.sizes.arrow;
  const n = (value) => value.toFixed(1);
  let [x, y] = [way[0][2], way[0][1]];
  let path = `M${n(way[0][0])} ${n(y)}`;
  way.slice(1).forEach(([a, next, b], index) => {
    const middle = (x + a) / 2;
    path += `C${n(middle)} ${n(y)} ${n(middle)} ${n(next)} ${n(a)} ${n(next)}`;
    [x, y] = [a, next];
    if (b !== a && index < way.length - 2) { path += `H${n(b)}`; x = b; }
  });
  return path;
}

function spread_lines(lines, places) {
  const parallel = new Map(), sides = new Map();
  const add = (map, key, value) => { if (!map.has(key)) map.set(key, []); map.get(key).push(value); };
  for (const line of lines) {
    add(parallel, [line.source, line.target].sort().join(" "), line);
    const [left, right] = line.forward ? [line.source, line.target] : [line.target, line.source];
    add(sides, `${left} right`, line);
    add(sides, `${right} left`, line);
  }
  for (const group of parallel.values()) {
    group.forEach((line, position) => {
      for (const segment of line.segments.slice(1, -1)) segment[1] += (position - (group.length - 1) / 2) * data.sizes.parallelGap;
    });
  }
  for (const [key, group] of sides) {
    const [box, side] = key.split(" ");
    const beside = side === "right" ? 1 : -2, own = side === "right" ? 0 : -1;
    group.sort((a, b) => a.segments.at(beside)[1] - b.segments.at(beside)[1]);
    const gap = Math.min(data.sizes.portGap, (places[box][3] - data.sizes.portMargin) / Math.max(1, group.length - 1));
    const middle = places[box][1] + places[box][3] / 2;
    group.forEach((line, position) => { line.segments.at(own)[1] = middle + (position - (group.length - 1) / 2) * gap; });
  }
}

// --- drawing --------------------------------------------------------------------------------------------------------
function svg(name, attributes, ...children) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

function html(name, attributes, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(key, value); else node.setAttribute(key, value);
  }
  node.append(...children);
  return node;
}

const count = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
const field_name = (field) => field || "(whole topic)";

function make_box(kind, key, [x, y, width, height], title, ...lines) {
  const node = svg("g", { class: kind, "data-key": key, transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`, tabindex: 0, role: "button" });
  node.append(svg("title", {}, title), svg("rect", { width, height, rx: 4 }), ...lines);
  return node;
}

function fit_label(node, width) {
  const whole = node.textContent;
  for (let letters = [...whole].length - 1; letters > 3 && node.getComputedTextLength() > width; letters -= 2) {
    const all = [...whole], head = Math.ceil(letters * 0.6);
    node.textContent = `${all.slice(0, head).join("")}…${all.slice(all.length - (letters - head)).join("")}`;
  }
}

function merge_links() {
  const merged = new Map();
  for (const link of data.links) {
    const [source, target] = [visible(link.source), visible(link.target)];
    if (source === target) continue;
    const key = [source, target, link.evidence, link.directed].join(" ");
    if (!merged.has(key)) merged.set(key, { key, source, target, links: [] });
    merged.get(key).links.push(link);
  }
  return [...merged.values()];
}

function draw() {
  const focused = document.activeElement?.closest?.("#scene [data-key]")?.dataset.key;
  const [places, bends] = place();
  const routes = {};
  for (const shelf of view().shelves) for (const component of shelf) Object.assign(routes, component.routes);
  const frames = [], lines = [], boxes = [];
  const inside = {};
  for (const link of data.links) if (owner_of(link.source) === owner_of(link.target)) inside[owner_of(link.source)] = (inside[owner_of(link.source)] || 0) + 1;
  for (const [key, at] of Object.entries(places)) {
    const group = view().groups[key];
    if (group && is_open(key)) {
      const frame = svg("g", { class: "frame", "data-frame": key, transform: `translate(${at[0].toFixed(1)} ${at[1].toFixed(1)})` }, svg("rect", { width: at[2], height: at[3], rx: 4 }));
      const header = svg("g", { class: "header", "data-key": key, tabindex: 0, role: "button", "aria-expanded": "true" }, svg("title", {}, `Close the group ${data.groups[key].prefix}`), svg("rect", { class: "header", width: at[2], height: data.sizes.header }), svg("text", { class: "name", x: 10, y: data.sizes.header / 2 + 4 }, `− ${group.label}`));
      frame.append(header);
      frames.push(frame);
    } else if (group) {
      const number = Object.keys(group.places).length;
      const node = make_box("group", key, at, `Open the group ${data.groups[key].prefix}: ${count(number, "topic")}`, svg("text", { class: "name", x: 10, y: 20 }, `+ ${group.label}`), svg("text", { class: "note", x: 10, y: 37 }, `${count(number, "topic")}, ${count(inside[key] || 0, "link")}`));
      node.setAttribute("aria-expanded", "false");
      boxes.push(node);
    } else {
      boxes.push(make_box("topic", key, at, data.topics[key].name, svg("text", { class: "name", x: 10, y: at[3] / 2 + 4 }, view().boxes[key][1])));
    }
  }
  const merged = merge_links();
  for (const each of merged) [each.segments, each.forward] = trace(each.links[0], places, bends, routes);
  spread_lines(merged, places);
  for (const each of merged) {
    const [first] = each.links;
    const path = draw_path(each.segments, each.forward, first.directed);
    const title = each.links.length === 1 ? first.title : `${count(each.links.length, "link")} of topics`;
    const line = svg("path", { class: `line ${first.evidence}`, d: path, "stroke-width": Math.max(...each.links.map((link) => link.width)) });
    if (first.directed) line.setAttribute("marker-end", "url(#arrow)");
    lines.push(svg("g", { class: first.directed ? "link" : "link undirected", "data-key": each.key, tabindex: 0, role: "button" }, svg("title", {}, title), svg("path", { class: "hit", d: path }), line));
  }
  scene.replaceChildren(...frames, ...lines, ...boxes);
  for (const node of scene.querySelectorAll(".topic .name")) fit_label(node, Number(node.parentNode.querySelector("rect").getAttribute("width")) - 16);
  for (const node of scene.querySelectorAll(".group .name")) fit_label(node, Number(node.parentNode.querySelector("rect").getAttribute("width")) - 16);
  const all = Object.values(places);
  drawn = {
    places,
    links: new Map(merged.map((each) => [each.key, each])),
    width: Math.max(...all.map(([x, , width]) => x + width)),
    height: Math.max(...all.map(([, y, , height]) => y + height)),
  };
  mark();
  if (focused) scene.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
}

// --- moving ---------------------------------------------------------------------------------------------------------
function show() { scene.setAttribute("transform", `translate(${state.x} ${state.y}) scale(${state.scale})`); }

function zoom(factor, x = canvas.clientWidth / 2, y = canvas.clientHeight / 2) {
  const scale = Math.min(MAX_SCALE, Math.max(MIN_SCALE, state.scale * factor));
  state.x = x - (x - state.x) * (scale / state.scale);
  state.y = y - (y - state.y) * (scale / state.scale);
  state.scale = scale;
  show();
}

function fit([left, top, right, bottom] = [0, 0, drawn.width, drawn.height], smallest = MIN_SCALE) {
  const margin = 16, width = canvas.clientWidth - 2 * margin, height = canvas.clientHeight - 2 * margin;
  state.scale = Math.max(smallest, Math.min(1.25, width / Math.max(1, right - left), height / Math.max(1, bottom - top)));
  const spare = (space, size) => Math.max(0, (space - size * state.scale) / 2); // what is too large begins at its start
  state.x = margin + spare(width, right - left) - left * state.scale;
  state.y = margin + spare(height, bottom - top) - top * state.scale;
  show();
}

function reveal(key, centred) {
  const at = drawn.places[key];
  if (!at) return;
  const [x, y] = [state.x + (at[0] + at[2] / 2) * state.scale, state.y + (at[1] + Math.min(at[3], 60) / 2) * state.scale];
  const [w, h] = [canvas.clientWidth, canvas.clientHeight];
  const [half, margin] = [(at[2] / 2) * state.scale, 8];
  const hidden = list.hidden ? 0 : Math.min(list.getBoundingClientRect().right - canvas.getBoundingClientRect().left, w / 2); // by the list of matches
  if (centred || x < half + margin || y < 24 || x > w - half - margin || y > h - 24) {
    const beside = w > 700 ? hidden : 0;
    state.x += (w + beside) / 2 - x;
    state.y += (h + (hidden - beside ? list.offsetHeight : 0)) / 2 - y;
    show();
  }
}

const pointers = new Map();
let moved = 0;
function middle() {
  const all = [...pointers.values()];
  const sum = all.reduce(([a, b], [x, y]) => [a + x, b + y], [0, 0]);
  return [sum[0] / all.length, sum[1] / all.length, all.length > 1 ? Math.hypot(all[0][0] - all[1][0], all[0][1] - all[1][1]) : 0];
}
const spot = (event) => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
canvas.addEventListener("pointerdown", (event) => {
  if (event.button) return;
  if (!pointers.size) moved = 0;
  pointers.set(event.pointerId, spot(event));
});
addEventListener("pointermove", (event) => {
  if (!pointers.has(event.pointerId)) return;
  const before = middle();
  pointers.set(event.pointerId, spot(event));
  const after = middle();
  moved += Math.hypot(after[0] - before[0], after[1] - before[1]);
  state.x += after[0] - before[0];
  state.y += after[1] - before[1];
  if (before[2] && after[2]) { moved += 10; zoom(after[2] / before[2], after[0], after[1]); } else show();
});
for (const end of ["pointerup", "pointercancel"]) addEventListener(end, (event) => pointers.delete(event.pointerId));
canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  const lines = event.deltaMode === 1 ? 16 : 1;
  zoom(Math.exp(-Math.max(-240, Math.min(240, event.deltaY * lines)) / 480), ...spot(event));
}, { passive: false });

// --- selection ------------------------------------------------------------------------------------------------------
function is_related(a, b) { // a record and its fields are about the same values
  if (a === b || !a || !b) return true;
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  return long.startsWith(short) && /[.[{]/.test(long[short.length]);
}

function find_path(topic, field) {
  // Walk up and down separately: what else was made from a source is not on the path.
  const topics = new Set([topic]), links = new Set();
  const depth = { up: 0, down: 0 };
  for (const way of ["up", "down"]) {
    let wave = [[topic, field]];
    const seen = new Set([`${topic} ${field ?? ""}`]);
    for (let step = 1; wave.length; step += 1) {
      const next = [];
      for (const [at, name] of wave) {
        for (const link of data.links) {
          for (const [from, to] of link.directed ? [["source", "target"]] : [["source", "target"], ["target", "source"]]) {
            const [near, far] = way === "down" ? [from, to] : [to, from];
            if (link[near] !== at) continue;
            const side = (end, edge) => (end === "source" ? edge.from : edge.to);
            const further = name === null ? [null] : link.fields.filter((edge) => is_related(side(near, edge), name)).map((edge) => side(far, edge));
            if (!further.length) continue;
            links.add(link);
            topics.add(link[far]);
            for (const each of further) {
              const key = `${link[far]} ${each ?? ""}`;
              if (!seen.has(key)) { seen.add(key); next.push([link[far], each]); depth[way] = step; }
            }
          }
        }
      }
      wave = next;
    }
  }
  return { topics, links, depth };
}

function mark() {
  const path = state.selected?.path;
  const matching = new Set(state.matches.map((match) => visible(match.topic)));
  const current = state.matches[state.current]?.topic;
  const shown = new Set(path ? [...path.topics].map(visible) : []);
  const selected = state.selected?.topic ? visible(state.selected.topic) : state.selected?.link;
  for (const node of scene.querySelectorAll("[data-key]")) {
    const key = node.dataset.key;
    const link = drawn.links.get(key);
    const faded = Boolean(path) && (link ? !link.links.some((each) => path.links.has(each)) : !shown.has(key)) && !node.classList.contains("header");
    node.classList.toggle("faded", faded);
    node.setAttribute("tabindex", faded ? -1 : 0);
    node.classList.toggle("match", matching.has(key));
    node.classList.toggle("current", current !== undefined && visible(current) === key);
    node.classList.toggle("selected", selected === key);
  }
}

function select(topic, field = null) {
  state.selected = { topic, field, path: find_path(topic, field) };
  history.replaceState(null, "", `#topic=${encodeURIComponent(data.topics[topic].name)}${field === null ? "" : `&field=${encodeURIComponent(field)}`}`);
  mark();
  explain_topic(topic, field);
  reveal(visible(topic));
}

function clear() {
  state.selected = null;
  history.replaceState(null, "", location.pathname + location.search);
  panel.hidden = true;
  panel.replaceChildren();
  mark();
}

function set_groups(opened) {
  state.opened = opened;
  draw();
}

function toggle_group(key) {
  const before = drawn.places[key];
  const opened = new Set(state.opened);
  if (!opened.delete(key)) opened.add(key);
  set_groups(opened);
  state.x += (before[0] - drawn.places[key][0]) * state.scale; // the group stays where it is on the screen
  state.y += (before[1] - drawn.places[key][1]) * state.scale;
  show();
}

function open_around(topic) {
  if (visible(topic) !== topic) set_groups(new Set([...state.opened, owner_of(topic)]));
}

function act(node) {
  const key = node?.dataset.key;
  if (!key) return;
  if (drawn.links.has(key)) {
    const each = drawn.links.get(key);
    state.selected = { link: key, path: null };
    mark();
    if (each.links.length === 1) explain_link(each.links[0]); else explain_links(each);
    reveal(each.target);
  } else if (view().groups[key]) toggle_group(key);
  else select(key);
}

// --- explanations ---------------------------------------------------------------------------------------------------
function fill_panel(title, ...content) {
  const close = html("button", { type: "button", class: "close", click: () => { clear(); canvas.focus({ preventScroll: true }); } }, "Close");
  panel.replaceChildren(close, html("h2", {}, ...title), ...content);
  panel.hidden = false;
  panel.scrollTop = 0;
  if (getComputedStyle(panel).position === "fixed") canvas.scrollIntoView({ block: "start" }); // a phone: it covers what is below
}

function code(text) { return html("code", {}, text); }

function facts(pairs) {
  return html("dl", { class: "facts" }, ...pairs.filter(([, text]) => text).flatMap(([name, text]) => [html("dt", {}, name), html("dd", {}, text)]));
}

function limited(rows, make) {
  const nodes = html("ul", {});
  const add = (start) => {
    nodes.append(...rows.slice(start, start + MAX_LISTED).map((row) => html("li", {}, make(row))));
    if (rows.length > start + MAX_LISTED) {
      const more = html("li", {}, html("button", { type: "button", click: () => { more.remove(); add(start + MAX_LISTED); } }, `${(rows.length - start - MAX_LISTED).toLocaleString("en")} more`));
      nodes.append(more);
    }
  };
  add(0);
  return nodes;
}

function link_title(link) {
  const [source, target] = [data.topics[link.source].name, data.topics[link.target].name];
  return link.directed ? [code(target), " was made from ", code(source)] : [code(source), " and ", code(target)];
}

function explain_link(link) {
  const source = data.topics[link.source].name, target = data.topics[link.target].name;
  const sentence = link.directed ? `${count(link.fields.length + link.more, "edge")}, ${data.evidence[link.evidence]}.` : `${count(link.fields.length + link.more, "edge")}, ${data.evidence[link.evidence]}. Direction unknown: either topic may have been made from the other, so the line has no arrow head.`;
  const go = (topic) => html("button", { type: "button", click: () => { open_around(topic); select(topic); reveal(topic); } }, "Path of ", code(data.topics[topic].name));
  fill_panel(
    link_title(link),
    html("p", {}, sentence),
    limited(link.fields, (edge) => html("div", {}, html("strong", {}, code(field_name(edge.to)), link.directed ? " ← " : " ↔ ", code(field_name(edge.from))), facts([
      ["Method", edge.method], ["Derivation", edge.derivation], ["Evidence", data.evidence[link.evidence]], ["Score", edge.score],
      ["Support", edge.support && `${edge.support} sampled records`], ["Lag", edge.lag], ["Seen", edge.seen], ["Example", edge.example],
    ]))),
    ...(link.more ? [html("p", { class: "note" }, `${count(link.more, "more edge")}: contractlog lineage --format json`)] : []),
    html("p", { class: "actions" }, go(link.source), ...(source === target ? [] : [go(link.target)])),
  );
}

function link_button(link, ...words) {
  return html("button", { type: "button", click: () => explain_link(link) }, ...words);
}

function explain_links(each) {
  const name = (key) => data.groups[key]?.prefix ?? data.topics[key].name;
  fill_panel([code(name(each.source)), " → ", code(name(each.target))], html("p", {}, `${count(each.links.length, "link")} between topics of these groups, ${data.evidence[each.links[0].evidence]}.${each.links[0].directed ? "" : " Direction unknown."}`), limited(each.links, (link) => link_button(link, ...link_title(link))));
}

function explain_topic(topic, field) {
  const near = (end) => data.links.filter((link) => link[end] === topic);
  const other = (link, end) => code(data.topics[link[end]].name);
  const fields = new Set();
  for (const link of near("source")) for (const edge of link.fields) fields.add(edge.from);
  for (const link of near("target")) for (const edge of link.fields) fields.add(edge.to);
  const { topics, depth } = state.selected.path;
  const steps = `The path has ${count(topics.size, "topic")}: ${count(depth.up, "step")} up to sources, ${count(depth.down, "step")} down.`;
  const section = (title, links, end) => (links.length ? [html("h3", {}, title), limited(links, (link) => link_button(link, other(link, end), `: ${count(link.fields.length + link.more, "edge")}${link.directed ? "" : ", direction unknown"}`))] : []);
  fill_panel(
    field === null ? [code(data.topics[topic].name)] : [code(data.topics[topic].name), ", field ", code(field_name(field))],
    html("p", {}, steps),
    html("p", { class: "actions" },
      html("button", { type: "button", click: () => show_path() }, "Show the path"),
      ...(field === null ? [] : [html("button", { type: "button", click: () => select(topic) }, "All fields")])),
    ...section("Made from", near("target"), "source"),
    ...section("Used for", near("source"), "target"),
    ...(fields.size ? [html("h3", {}, "Path of a field"), limited([...fields].sort(), (each) => html("button", { type: "button", "aria-pressed": String(each === field), click: () => select(topic, each) }, code(field_name(each))))] : []),
  );
}

function show_path() {
  const path = state.selected.path;
  const groups = [...path.topics].map(owner_of).filter((key) => view().groups[key]);
  set_groups(new Set([...state.opened, ...groups]));
  const all = [...path.topics].map((topic) => drawn.places[visible(topic)]);
  fit([Math.min(...all.map(([x]) => x)), Math.min(...all.map(([, y]) => y)), Math.max(...all.map(([x, , w]) => x + w)), Math.max(...all.map(([, y, , h]) => y + h))]);
}

// --- search ---------------------------------------------------------------------------------------------------------
const fields_of = new Map(Object.keys(data.topics).map((topic) => [topic, new Set()]));
for (const link of data.links) {
  for (const edge of link.fields) { fields_of.get(link.source).add(edge.from); fields_of.get(link.target).add(edge.to); }
}

function find(text) {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return [];
  const topics = [], fields = [];
  for (const [topic, { name }] of Object.entries(data.topics)) {
    if (name.toLowerCase().includes(wanted)) topics.push({ topic, field: null });
    for (const field of [...fields_of.get(topic)].sort()) if (field.toLowerCase().includes(wanted)) fields.push({ topic, field });
  }
  const starts = (match) => (data.topics[match.topic].name.toLowerCase().startsWith(wanted) ? 0 : 1);
  return [...topics.sort((a, b) => starts(a) - starts(b)), ...fields];
}

function list_matches() {
  const page = Math.max(0, Math.floor(state.current / MAX_LISTED)) * MAX_LISTED;
  list.replaceChildren(...state.matches.slice(page, page + MAX_LISTED).map((match, offset) => html("li", {}, html("button", { type: "button", "aria-current": String(page + offset === state.current), click: () => { go_to(page + offset); select(match.topic, match.field); } }, code(data.topics[match.topic].name), ...(match.field === null ? [] : [" field ", code(field_name(match.field))])))));
  if (state.matches.length > page + MAX_LISTED) list.append(html("li", { class: "note" }, `and ${(state.matches.length - page - MAX_LISTED).toLocaleString("en")} more`));
  list.hidden = !state.matches.length;
  const topics = new Set(state.matches.map((match) => match.topic)).size;
  const words = state.matches.length ? `${count(state.matches.length, "match").replace("matchs", "matches")} in ${count(topics, "topic")}` : "no match";
  document.getElementById("matches").textContent = !search.value.trim() ? "" : state.current < 0 ? words : `${(state.current + 1).toLocaleString("en")} of ${words}`;
  list.querySelector("[aria-current=true]")?.scrollIntoView({ block: "nearest" });
}

function go_to(position) {
  if (!state.matches.length) return;
  state.current = (position + state.matches.length) % state.matches.length;
  const { topic } = state.matches[state.current];
  open_around(topic);
  mark();
  list_matches();
  if (state.scale < READABLE) zoom(READABLE / state.scale);
  reveal(topic, true);
}

search.addEventListener("input", () => { state.matches = find(search.value); state.current = -1; mark(); list_matches(); });
search.addEventListener("keydown", (event) => { if (event.key === "Escape") { list.hidden = true; event.stopPropagation(); } });
search.addEventListener("focus", () => { if (state.matches.length) list.hidden = false; });
search.form.addEventListener("submit", (event) => event.preventDefault());
search.addEventListener("keydown", (event) => { if (event.key === "Enter") { event.preventDefault(); go_to(state.current + (event.shiftKey ? -1 : 1)); } });
document.addEventListener("pointerdown", (event) => { if (!event.target.closest(".search")) list.hidden = true; });

// --- controls -------------------------------------------------------------------------------------------------------
canvas.addEventListener("click", (event) => {
  if (moved > 6) return; // the end of a drag
  const node = event.target.closest("[data-key]");
  if (node) act(node); else if (state.selected) clear();
});
canvas.addEventListener("keydown", (event) => {
  const step = 64;
  const moves = { ArrowLeft: [step, 0], ArrowRight: [-step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] };
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (moves[event.key]) { state.x += moves[event.key][0]; state.y += moves[event.key][1]; show(); }
  else if (event.key === "+" || event.key === "=") zoom(1.25);
  else if (event.key === "-") zoom(0.8);
  else if (event.key === "0") fit();
  else if ((event.key === "Enter" || event.key === " ") && event.target.dataset.key) act(event.target);
  else return;
  event.preventDefault();
});
addEventListener("keydown", (event) => { if (event.key === "Escape" && state.selected) { clear(); canvas.focus({ preventScroll: true }); } });
document.addEventListener("focusin", (event) => { // not of the scene: Chromium would make it a tab stop
  if (scene.contains(event.target) && event.target.matches(":focus-visible")) reveal(event.target.dataset.key);
});
const actions = {
  in: () => zoom(1.25),
  out: () => zoom(0.8),
  fit: () => fit(),
  close: () => { set_groups(new Set()); fit(); },
  open: () => { set_groups(new Set(Object.keys(data.groups))); fit(undefined); },
  flat: (button) => {
    state.view = state.view === "flat" ? "grouped" : "flat";
    button.setAttribute("aria-pressed", String(state.view === "flat"));
    for (const each of document.querySelectorAll("[data-action=close], [data-action=open]")) each.disabled = state.view === "flat";
    draw();
    fit();
  },
};
for (const button of document.querySelectorAll("[data-action]")) button.addEventListener("click", () => actions[button.dataset.action](button));
addEventListener("beforeprint", () => fit());

document.querySelector(".tools").hidden = false;
for (const node of document.querySelectorAll(".with-script")) node.hidden = false;
canvas.removeAttribute("viewBox");
canvas.classList.add("live");
canvas.setAttribute("tabindex", "0");
for (const name of ["tabindex", "role", "aria-label"]) canvas.parentNode.removeAttribute(name); // it no longer scrolls
draw();
fit(undefined, READABLE);
const wanted = new URLSearchParams(location.hash.slice(1));
for (const [topic, { name }] of Object.entries(data.topics)) {
  if (wanted.get("topic") === name) { open_around(topic); select(topic, wanted.get("field")); reveal(topic, true); }
}
