// Details of what the pictures show, a filter, and a link from the table of places to the map. The page reads
// without it. Text is only ever set as text.
"use strict";
(() => {
const data = JSON.parse(document.getElementById("data").textContent);
const told = document.getElementById("told");
const words = { F: "faulted", T: "trapped", B: "waits at a barrier", A: "active", D: "divergent", N: "not resident" };
const rows = Array.from(document.querySelectorAll("#groups tbody tr"));

function warpAt(device, sm, slot) {
const cell = (device.at[sm] || "").split(",")[slot];
if (!cell) return null;
const [head, block, kernel] = cell.split(".");
return {
state: head[0],
group: head.length > 1 ? parseInt(head.slice(1), 36) : -1,
block: block === undefined ? -1 : parseInt(block, 36),
kernel: kernel === undefined ? 0 : parseInt(kernel, 36),
};
}

function blockName(number, kernel) {
const [x, y] = data.grids[kernel];
return `block (${number % x},${Math.floor(number / x) % y},${Math.floor(number / x / y)})`;
}

function describe(device, sm, slot) {
const warp = warpAt(device, sm, slot);
if (!warp) return `SM ${sm}, slot ${slot}: no warp`;
const row = rows[warp.group];
let text = `SM ${sm}, slot ${slot}: ${words[warp.state]}`;
if (row) text += `, at ${row.cells[4].textContent}, ${row.cells[6].textContent}`;
if (warp.block >= 0) text += `, ${blockName(warp.block, warp.kernel)}`;
return text;
}

function svg(name, parent) {
const element = document.createElementNS("http://www.w3.org/2000/svg", name);
parent.append(element);
return element;
}

const maps = [];
for (const holder of document.querySelectorAll(".map")) {
const device = data.devices[holder.dataset.device];
if (!device) continue;
const picture = holder.querySelector("svg");
const map = { device, picture, shown: svg("path", picture.querySelector("g")), column: 0, slot: 0 };
map.shown.setAttribute("class", "shown");
map.cursor = svg("rect", picture);
map.cursor.setAttribute("class", "cursor");
map.cursor.setAttribute("width", "1");
map.cursor.setAttribute("height", "1");
map.cursor.setAttribute("visibility", "hidden");
const go = (column, slot) => {
map.column = Math.min(Math.max(column, 0), device.sms.length - 1);
map.slot = Math.min(Math.max(slot, 0), device.slots - 1);
map.cursor.setAttribute("x", map.column);
map.cursor.setAttribute("y", map.slot);
map.cursor.setAttribute("visibility", "visible");
told.textContent = describe(device, device.sms[map.column], map.slot);
};
const point = (event) => {
const box = picture.getBoundingClientRect(), view = picture.viewBox.baseVal;
go(Math.floor((event.clientX - box.left) / box.width * view.width),
Math.floor((event.clientY - box.top) / box.height * view.height + view.y));
};
picture.addEventListener("pointermove", point);
picture.addEventListener("click", (event) => {
point(event);
const warp = warpAt(device, device.sms[map.column], map.slot);
if (warp) choose(rows[warp.group], true);
});
picture.setAttribute("tabindex", "0");
picture.setAttribute("role", "application");
picture.setAttribute("aria-label", picture.getAttribute("aria-label") + ". Arrow keys move, Enter chooses the place.");
picture.addEventListener("focus", () => go(map.column, map.slot));
picture.addEventListener("keydown", (event) => {
const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1],
PageUp: [0, -8], PageDown: [0, 8], Home: [-device.sms.length, 0], End: [device.sms.length, 0] }[event.key];
if (step) {
go(map.column + step[0], map.slot + step[1]);
event.preventDefault();
} else if (event.key === "Enter" || event.key === " ") {
const warp = warpAt(device, device.sms[map.column], map.slot);
if (warp) choose(rows[warp.group], true);
event.preventDefault();
}
});
maps.push(map);
}

// Marks a place in the table and its warps on the maps; choosing it again takes the marks away.
function choose(row, keep) {
const was = row && row.classList.contains("chosen");
for (const one of rows) {
one.classList.remove("chosen");
one.removeAttribute("aria-current");
}
const on = row && (keep || !was);
if (on) {
row.classList.add("chosen");
row.setAttribute("aria-current", "true");
}
for (const map of maps) {
let path = "";
for (const [column, sm] of on ? map.device.sms.entries() : []) {
(map.device.at[sm] || "").split(",").forEach((cell, slot) => {
if (cell && parseInt(cell.split(".")[0].slice(1), 36) === rows.indexOf(row)) path += `M${column} ${slot}v1`;
});
}
map.shown.setAttribute("d", path);
}
}

for (const row of rows) {
row.tabIndex = 0;
row.addEventListener("click", () => choose(row, false));
row.addEventListener("keydown", (event) => {
if (event.key === "Enter" || event.key === " ") {
choose(row, false);
event.preventDefault();
}
});
}

const filter = document.getElementById("filter");
if (filter) {
filter.closest(".tools").hidden = false;
filter.addEventListener("input", () => {
const wanted = filter.value.toLowerCase();
let n = 0;
for (const row of rows) {
row.hidden = !row.textContent.toLowerCase().includes(wanted);
n += row.hidden ? 0 : 1;
}
document.getElementById("filtered").textContent = wanted ? `${n} of ${rows.length} places` : "";
});
}

// Paper has no folds. Browsers that know ::details-content need no help (page.css).
const folded = [];
addEventListener("beforeprint", () => {
folded.push(...document.querySelectorAll("details:not([open])"));
for (const one of folded) one.open = true;
});
addEventListener("afterprint", () => {
for (const one of folded.splice(0)) one.open = false;
});

for (const holder of document.querySelectorAll(".blocks")) {
const picture = holder.querySelector("svg"), note = document.createElement("p");
const columns = Number(holder.dataset.columns), per = Number(holder.dataset.per);
const kernel = Number(holder.dataset.kernel), box = picture.viewBox.baseVal;
const states = new Map();
for (const device of Object.values(data.devices))
for (const sm of Object.values(device.at))
for (const cell of sm.split(",")) {
const [head, block, other] = cell.split(".");
if (block === undefined || (other ? parseInt(other, 36) : 0) !== kernel) continue;
const at = parseInt(block, 36), old = states.get(at);
if (!old || "FTBAD".indexOf(head[0]) < "FTBAD".indexOf(old)) states.set(at, head[0]);
}
note.className = "told";
holder.append(note);
picture.addEventListener("pointermove", (event) => {
const area = picture.getBoundingClientRect();
const x = Math.floor((event.clientX - area.left) / area.width * box.width);
const y = Math.floor((event.clientY - area.top) / area.height * box.height);
const first = (y * columns + x) * per;
const total = data.grids[kernel].reduce((product, n) => product * n, 1);
if (x < 0 || x >= columns || first >= total) return;
const name = blockName(first, kernel);
note.textContent = per === 1 ? `${name}: ${words[states.get(first) || "N"]}`
: `${name} and the ${per - 1} after it`;
});
}
})();
