// The console: browses and edits values, and shows the cluster, by the API of the node that it is from.
// Whatever comes from users is shown by textContent only. The API key is in this page's memory and nowhere else.

import { jsonIndented, hexOf, bytesOfHex, sizeOf, textOf, withNewlinesOf } from "./formats.js";

const NO_RANGES = "urn:kvorum:problem:ranges-not-supported";
const PAGE = 200;
const MOST_SHOWN_BYTES = 256 * 1024;
const POLL_MILLIS = 2000;
// More than the deadlines of the nodes, whose answer says more.
const CALL_MILLIS = 30_000;
const SAMPLES = 90;

const element = id => document.getElementById(id);

function create(tag, text, attributes = {}) {
	const made = document.createElement(tag);
	if (text !== undefined) {
		made.textContent = text;
	}
	for (const [name, value] of Object.entries(attributes)) {
		made.setAttribute(name, value);
	}
	return made;
}

function show(id, isShown) {
	element(id).hidden = !isShown;
}

// ---- The API

class ProblemError extends Error {

	constructor(status, problem, etag) {
		super(problem.detail ? `${problem.detail} (${status})` : `The node answers with status ${status}.`);
		this.status = status;
		this.problem = problem;
		this.etag = etag;
	}

}

async function call(target, options = {}) {
	const headers = new Headers(options.headers);
	const key = element("api-key").value.trim();
	if (key) {
		headers.set("Authorization", `Bearer ${key}`);
	}
	let response;
	// Until the answer begins: a large value may take longer.
	const late = new AbortController();
	const timer = setTimeout(() => late.abort(new DOMException("", "TimeoutError")), CALL_MILLIS);
	try {
		response = await fetch(target, { signal: late.signal, ...options, headers, credentials: "omit", cache: "no-store" });
	}
	catch (failure) {
		const why = failure.name === "TimeoutError" ? "The node does not answer." : "The node cannot be reached.";
		throw new Error(options.method ? `${why} Whether it wrote is unknown: look at the value before you try again.` : why);
	}
	finally {
		clearTimeout(timer);
	}
	if (!response.ok) {
		const problem = await response.json().catch(() => ({}));
		throw new ProblemError(response.status, problem, response.headers.get("ETag"));
	}
	return response;
}

function entityTarget(key, parameters = {}) {
	return `v0/entity?${new URLSearchParams({ id: key, ...parameters })}`;
}

function report(failure) {
	element("problem").textContent = failure ? failure.message : "";
	show("problem", Boolean(failure));
}

async function reporting(work) {
	try {
		report(null);
		await work();
	}
	catch (failure) {
		report(failure);
	}
}

// ---- Keys

let listed = { prefix: "", separator: "/", next: null };
let listing = 0;

async function list(prefix, start) {
	const separator = element("separator").value;
	const parameters = new URLSearchParams({ prefix, values: "false", limit: String(PAGE) });
	if (separator) {
		parameters.set("separator", separator);
	}
	if (start) {
		parameters.set("start", start);
	}
	const turn = ++listing;
	let response;
	try {
		response = await call(`v0/entities?${parameters}`, { headers: { Accept: "application/x-ndjson" } });
	}
	catch (failure) {
		if (failure.problem?.type !== NO_RANGES) {
			throw failure;
		}
		await openWhole(prefix);
		return;
	}
	// Empty where the connection broke off.
	const text = await response.text().catch(() => "");
	const lines = text.split("\n").filter(Boolean).map(line => JSON.parse(line));
	if (turn !== listing) {
		return;
	}
	const end = lines.pop();
	if (!end?.end) {
		throw new Error("The list is incomplete: the connection broke. Try again.");
	}
	if (!start) {
		element("entries").replaceChildren();
	}
	listed = { prefix, separator, next: end.next ?? null };
	element("entries").append(...lines.map(line => line.prefix === undefined ? keyItem(line) : folderItem(line.prefix)));
	show("more", listed.next !== null);
	show("none", !element("entries").hasChildNodes());
	showCrumbs(prefix, separator);
}

// At a gateway, which cannot list keys: what was entered is a whole key.
async function openWhole(key) {
	element("prefix-label").textContent = "Key";
	show("separator-label", false);
	show("unlisted", true);
	if (key) {
		await open(key);
	}
}

// The rest of a key or a folder behind the folder that is shown.
function nameIn(text) {
	const { prefix, separator } = listed;
	const folder = separator ? prefix.slice(0, prefix.lastIndexOf(separator) + separator.length) : "";
	return prefix.includes(separator) ? text.slice(folder.length) : text;
}

function folderItem(prefix) {
	const item = create("li");
	const button = create("button", undefined, { type: "button", class: "folder" });
	button.append(create("span", nameIn(prefix)));
	button.addEventListener("click", () => browse(prefix));
	item.append(button);
	return item;
}

function keyItem(line) {
	const item = create("li");
	const button = create("button", undefined, { type: "button" });
	const expires = line.expires ? ` · until ${new Date(line.expires).toLocaleString()}` : "";
	button.append(create("span", nameIn(line.id) || line.id), create("small", sizeOf(line.size) + expires));
	button.addEventListener("click", () => {
		if (!mayLeave()) {
			return;
		}
		element("entries").querySelectorAll("[aria-current]").forEach(it => it.removeAttribute("aria-current"));
		button.setAttribute("aria-current", "true");
		reporting(() => open(line.id));
	});
	item.append(button);
	return item;
}

function showCrumbs(prefix, separator) {
	const crumbs = element("crumbs");
	crumbs.replaceChildren();
	const add = (text, target) => {
		const button = create("button", text, { type: "button" });
		button.addEventListener("click", () => browse(target));
		crumbs.append(button);
	};
	add("All keys", "");
	if (separator) {
		let at = 0;
		for (let end = prefix.indexOf(separator); end >= 0; end = prefix.indexOf(separator, at)) {
			const next = end + separator.length;
			add(prefix.slice(at, next), prefix.slice(0, next));
			at = next;
		}
	}
}

function browse(prefix) {
	const target = `#/keys/${encodeURIComponent(prefix)}`;
	if (location.hash === target) {
		route();
	}
	else {
		location.hash = target;
	}
}

// ---- One value

let opened = null;
let opening = 0;

function isEdited() {
	return opened !== null && !element("entry").hidden && (opened.isTyped || element("content").value !== opened.shown);
}

function mayLeave() {
	return !isEdited() || confirm("What you have typed is not saved. Leave it?");
}

async function open(key) {
	const turn = ++opening;
	const response = await call(entityTarget(key));
	const body = await response.arrayBuffer().catch(() => null);
	if (turn !== opening) {
		return;
	}
	if (body === null) {
		throw new Error("The value is incomplete: the connection broke. Try again.");
	}
	const bytes = new Uint8Array(body);
	opened = { key, bytes, etag: response.headers.get("ETag"), isNew: false, expires: Date.parse(response.headers.get("Expires")) };
	const type = response.headers.get("Content-Type") ?? "";
	const facts = { Version: opened.etag?.replaceAll('"', "") ?? "", Size: sizeOf(bytes.length) };
	for (const [name, header] of [["Modified", "Last-Modified"], ["Expires", "Expires"]]) {
		if (response.headers.has(header)) {
			facts[name] = new Date(response.headers.get(header)).toLocaleString();
		}
	}
	facts["Read as"] = response.headers.get("Kvorum-Consistency") ?? "";
	showEntry(key, type, facts);
	setMode(modeFor(bytes, type));
	await showHolders(key);
}

function openNew() {
	opening++;
	opened = { key: "", bytes: new Uint8Array(), etag: null, isNew: true };
	showEntry("New key", "text/plain", {});
	element("new-key").value = listed.prefix;
	element("holders").replaceChildren();
	setMode("text");
	element("new-key").focus();
}

function showEntry(name, type, facts) {
	show("entry", true);
	show("conflict", false);
	show("new-name", opened.isNew);
	element("saved").textContent = "";
	element("name").textContent = name;
	element("content-type").value = type;
	element("ttl").value = opened.shownTtl = remainingOf(opened);
	element("delete").hidden = opened.isNew;
	element("download").hidden = opened.isNew;
	element("facts").replaceChildren(...Object.entries(facts).flatMap(([fact, value]) => [create("dt", fact), create("dd", value)]));
	const tooLong = opened.bytes.length > MOST_SHOWN_BYTES;
	element("size-note").textContent = tooLong ? `Only the first ${sizeOf(MOST_SHOWN_BYTES)} are shown, so this cannot be edited here: download it.` : "";
	show("size-note", tooLong);
	element("content").readOnly = tooLong;
	element("save").disabled = tooLong;
}

// The time until a value expires; empty if it does not.
function remainingOf({ expires }) {
	return expires > 0 ? `${Math.max(1, Math.round((expires - Date.now()) / 1000))}s` : "";
}

function modeFor(bytes, type) {
	const text = textOf(bytes.subarray(0, MOST_SHOWN_BYTES), bytes.length > MOST_SHOWN_BYTES);
	if (text === null) {
		return "hex";
	}
	return /[/+]json\b/.test(type) && jsonIndented(text) !== null ? "json" : "text";
}

// Shows the value in another form. What was typed is kept, if it is a value in the form before.
function setMode(mode) {
	for (const radio of document.getElementsByName("mode")) {
		radio.checked = radio.value === mode;
	}
	opened.mode = mode;
	const shown = opened.bytes.subarray(0, MOST_SHOWN_BYTES);
	const isCut = shown.length < opened.bytes.length;
	const text = mode === "hex" ? hexOf(shown) : textOf(shown, isCut);
	if (text === null) {
		report(new Error("The value is no text in UTF-8: look at it as hex."));
		setMode("hex");
		return;
	}
	const indented = mode === "json" && !isCut ? jsonIndented(text) : null;
	if (mode === "json" && indented === null && text !== "") {
		report(new Error("The value is no JSON."));
	}
	element("content").value = indented ?? text;
	opened.shown = element("content").value;
}

// The bytes of what is in the text field. They are those that were read unless it was changed.
function typedBytes() {
	const typed = element("content").value;
	if (typed === opened.shown) {
		return opened.bytes;
	}
	if (opened.mode === "hex") {
		return bytesOfHex(typed);
	}
	if (opened.mode === "json" && jsonIndented(typed) === null) {
		throw new Error("This is no JSON. Show it as text to save it as it is.");
	}
	return new TextEncoder().encode(opened.mode === "text" ? withNewlinesOf(textOf(opened.bytes) ?? "", typed) : typed);
}

async function save(etag) {
	const turn = opening;
	element("saved").textContent = "";
	const key = opened.isNew ? element("new-key").value : opened.key;
	const bytes = typedBytes();
	const headers = { "Content-Type": element("content-type").value || "application/octet-stream" };
	if (etag) {
		headers["If-Match"] = etag;
	}
	else {
		headers["If-None-Match"] = "*";
	}
	const typed = element("ttl").value.trim();
	// What expires goes on to do so, at the same time.
	const ttl = typed === opened.shownTtl ? remainingOf(opened) : typed;
	try {
		await call(entityTarget(key, ttl ? { ttl } : {}), { method: "PUT", headers, body: bytes });
	}
	catch (failure) {
		if (failure.status === 412 && turn === opening) {
			showConflict(key, failure.etag);
			return;
		}
		throw failure;
	}
	if (turn !== opening) {
		return;
	}
	await open(key);
	element("saved").textContent = "Saved.";
	await list(listed.prefix);
}

// Somebody else has written since the value was read. Nothing is lost: what was typed stays until its user decides.
function showConflict(key, etag) {
	opened = { ...opened, key, isNew: false, conflict: etag };
	show("new-name", false);
	element("name").textContent = key;
	element("conflict-text").textContent = etag
		? `The value is another one by now, of version ${etag.replaceAll('"', "")}. Nothing was written.`
		: "The value has been deleted. Nothing was written.";
	show("theirs", Boolean(etag));
	show("conflict", true);
	element("conflict").scrollIntoView({ block: "nearest" });
}

async function remove() {
	if (!confirm(`Delete ${opened.key}?`)) {
		return;
	}
	try {
		await call(entityTarget(opened.key), { method: "DELETE", headers: { "If-Match": opened.etag } });
	}
	catch (failure) {
		if (failure.status === 412) {
			showConflict(opened.key, failure.etag);
			return;
		}
		throw failure;
	}
	show("entry", false);
	await list(listed.prefix);
}

function download() {
	const link = create("a", undefined, { download: opened.key.split("/").pop() || "value" });
	link.href = URL.createObjectURL(new Blob([opened.bytes], { type: "application/octet-stream" }));
	link.click();
	URL.revokeObjectURL(link.href);
}

async function showHolders(key) {
	const holders = element("holders");
	const turn = opening;
	holders.replaceChildren();
	try {
		const found = await (await call(`actuator/topology?${new URLSearchParams({ id: key })}`)).json();
		if (turn !== opening) {
			return;
		}
		const table = create("table");
		table.append(row("th", ["Node", "Replica", "State", "Version"]));
		for (const holding of found.replicas) {
			table.append(row("td", [holding.node, holding.replica ? "yes" : "no", holding.state, holding.version ?? ""]));
		}
		const scroll = create("div", undefined, { class: "scroll", tabindex: "0", role: "region", "aria-label": "Table of holders" });
		scroll.append(table);
		holders.replaceChildren(scroll);
	}
	catch (failure) {
		holders.replaceChildren(create("p", failure.status === 404
			? "The node does not tell: its endpoint 'topology' is not exposed on this port." : failure.message, { class: "quiet" }));
	}
}

function row(tag, cells) {
	const made = create("tr");
	made.append(...cells.map(cell => cell instanceof Node ? cell : create(tag, cell, tag === "th" ? { scope: "col" } : {})));
	return made;
}

// ---- The cluster

const history = new Map();
let poll = 0;

const CHARTS = [
	{ title: "Requests/s", unit: "", value: (now, before) => now.requests?.perSecond },
	{ title: "p99 of requests", unit: " ms", value: now => now.requests?.p99Millis },
	{ title: "Failed operations/s", unit: "", value: failedPerSecond },
	{ title: "Hints waiting", unit: "", value: now => now.hints },
];

function failedPerSecond(now, before, seconds) {
	const failed = node => (node.operations?.["not-applied"] ?? 0) + (node.operations?.unknown ?? 0);
	if (!now.operations || !before?.operations || failed(now) < failed(before)) {
		return undefined;
	}
	return (failed(now) - failed(before)) / seconds;
}

async function watch() {
	const turn = ++poll;
	let before = null;
	while (turn === poll) {
		const began = Date.now();
		try {
			const cluster = await (await call("v0/cluster", { signal: AbortSignal.timeout(3 * POLL_MILLIS) })).json();
			if (turn !== poll) {
				return;
			}
			report(null);
			showCluster(cluster, before, began);
			before = { cluster, began };
		}
		catch (failure) {
			if (turn === poll) {
				report(failure);
				element("summary").textContent = "What is below is no longer up to date.";
				before = null;
			}
		}
		await new Promise(done => setTimeout(done, POLL_MILLIS));
	}
}

const STATES = { member: "good", away: "bad" };

function numberOf(count, one, more) {
	return `${count} ${count === 1 ? one : more}`;
}

function ageOf(seconds) {
	const hours = seconds / 3600;
	return hours < 2 ? `${Math.round(seconds / 60)} min old` : hours < 48 ? `${Math.round(hours)} h old` : `${Math.round(hours / 24)} days old`;
}

function showCluster(cluster, before, began) {
	const { layout, nodes, unreachable } = cluster;
	const away = nodes.filter(node => node.state === "away").length;
	const behind = nodes.filter(node => node.converged === false).length;
	// Nodes of Cassandra do not say.
	const convergence = behind ? `${behind} not converged. ` : nodes.some(node => node.converged) ? "All that are there have converged. " : "";
	element("summary").textContent = `${numberOf(nodes.length, "node", "nodes")}, ${away ? `${away} away` : "all there"}. `
		+ convergence
		+ `Layout ${layout.version} is ${layout.state}, ${numberOf(layout.factor, "copy", "copies")} of each key.`
		+ (layout.moving ? ` Moved: ${sizeOf(layout.moving.movedBytes ?? 0)} of about ${sizeOf(layout.moving.bytes ?? 0)}.` : "");
	const table = element("nodes");
	table.replaceChildren(row("th", ["Node", "State", "Zone", "Version", "Converged", "Keys", "Free", "Requests/s", "Hints", "Backup"]));
	nodes.forEach((node, number) => {
		const why = unreachable.find(it => it.address === node.address)?.why;
		const state = create("td", node.state, { class: STATES[node.state] ?? "warn" });
		if (why) {
			state.append(create("small", why));
		}
		const address = create("td", node.address);
		address.prepend(create("span", undefined, { class: `series s${number % 6}`, "aria-hidden": "true" }));
		table.append(row("td", [address, state, node.zone ?? "", node.version ?? "",
			node.converged === undefined ? "" : node.converged ? "yes" : "not yet", node.keys?.toLocaleString() ?? "",
			node.freeBytes === undefined ? "" : sizeOf(node.freeBytes), node.requests?.perSecond?.toLocaleString() ?? "",
			node.hints?.toLocaleString() ?? "", node.newestBackupAgeSeconds === undefined ? (node.converged === undefined ? "" : "none")
				: ageOf(node.newestBackupAgeSeconds)]));
	});
	showMatrix(nodes);
	const seconds = before ? (began - before.began) / 1000 : 1;
	for (const node of nodes) {
		const samples = history.get(node.address) ?? [];
		const last = before?.cluster.nodes.find(it => it.address === node.address);
		samples.push(CHARTS.map(chart => chart.value(node, last, seconds)));
		history.set(node.address, samples.slice(-SAMPLES));
	}
	showCharts(nodes);
}

function showMatrix(nodes) {
	const table = element("matrix");
	table.replaceChildren(row("th", ["From \\ to", ...nodes.map(node => node.address)]));
	for (const from of nodes) {
		const cells = nodes.map(to => {
			if (from === to || !from.reaches) {
				return create("td", from === to ? "–" : "?", { class: "quiet" });
			}
			const reaches = from.reaches.includes(to.address);
			return create("td", reaches ? "yes" : "no", { class: reaches ? "good" : "bad" });
		});
		table.append(row("td", [create("th", from.address, { scope: "row" }), ...cells]));
	}
}

function showCharts(nodes) {
	element("charts").replaceChildren(...CHARTS.map((chart, index) => {
		const series = nodes.map(node => (history.get(node.address) ?? []).map(sample => sample[index]));
		const most = Math.max(...series.flat().filter(value => value !== undefined), 0);
		const figure = create("figure");
		const caption = create("figcaption");
		const shown = most.toLocaleString(undefined, { maximumFractionDigits: 1 });
		caption.append(create("span", chart.title), create("span", `up to ${shown}${chart.unit}`, { class: "quiet" }));
		figure.append(caption, plot(series, most, `${chart.title}: up to ${shown}${chart.unit}`));
		return figure;
	}));
}

function plot(series, most, label) {
	const make = tag => document.createElementNS("http://www.w3.org/2000/svg", tag);
	const svg = make("svg");
	svg.setAttribute("viewBox", `0 0 ${SAMPLES - 1} 100`);
	svg.setAttribute("preserveAspectRatio", "none");
	svg.setAttribute("role", "img");
	svg.setAttribute("aria-label", label);
	series.forEach((values, number) => {
		// A line for each time without a gap: nothing is known of a gap.
		let points = [];
		const draw = () => {
			if (points.length) {
				const line = make("polyline");
				line.setAttribute("class", `s${number % 6}`);
				line.setAttribute("points", points.join(" "));
				svg.append(line);
			}
			points = [];
		};
		values.forEach((value, at) => {
			if (value === undefined) {
				draw();
			}
			else {
				points.push(`${SAMPLES - values.length + at},${100 - 96 * (most ? value / most : 0) - 2}`);
			}
		});
		draw();
	});
	return svg;
}

// ---- Views

function route() {
	const [, view, prefix] = /^#\/(\w+)\/?(.*)$/.exec(location.hash) ?? [null, "keys", ""];
	const isCluster = view === "cluster";
	show("keys", !isCluster);
	show("cluster", isCluster);
	for (const name of ["keys", "cluster"]) {
		const tab = element(`tab-${name}`);
		if ((name === "cluster") === isCluster) {
			tab.setAttribute("aria-current", "page");
		}
		else {
			tab.removeAttribute("aria-current");
		}
	}
	if (isCluster) {
		watch();
		return;
	}
	poll++;
	let decoded = "";
	try {
		decoded = decodeURIComponent(prefix);
	}
	catch {
		// A link that was cut: all keys.
	}
	element("prefix").value = decoded;
	reporting(() => list(decoded));
}

element("browse").addEventListener("submit", event => {
	event.preventDefault();
	browse(element("prefix").value);
});
element("more").addEventListener("click", () => reporting(() => list(listed.prefix, listed.next)));
element("new").addEventListener("click", () => mayLeave() && openNew());
addEventListener("beforeunload", event => {
	if (isEdited()) {
		event.preventDefault();
	}
});
element("edit").addEventListener("submit", event => {
	event.preventDefault();
	reporting(() => save(opened.etag));
});
element("theirs").addEventListener("click", () => reporting(() => open(opened.key)));
element("overwrite").addEventListener("click", () => reporting(() => save(opened.conflict)));
element("delete").addEventListener("click", () => reporting(remove));
element("download").addEventListener("click", download);
for (const radio of document.getElementsByName("mode")) {
	radio.addEventListener("change", () => reporting(() => {
		const typed = typedBytes();
		opened = { ...opened, bytes: typed, isTyped: opened.isTyped || typed !== opened.bytes };
		setMode(radio.value);
	}).then(() => {
		for (const other of document.getElementsByName("mode")) {
			other.checked = other.value === opened.mode;
		}
	}));
}
element("api-key").addEventListener("change", route);
addEventListener("hashchange", route);
route();
