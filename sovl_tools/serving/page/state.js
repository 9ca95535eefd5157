// What the page knows, and where it is. Whoever changes it calls `changed()`.

import { dropToken, hasToken, pathOf, pause, request } from "./api.js";
import { follow } from "./stream.js";

export const state = {
	status: "connecting",
	root: "",
	tools: [],
	procedures: [],
	views: [],
	lastChange: null,
	calls: [], // newest first, those that run too
	filter: "",
	view: null,
	details: new Map(), // "tools/NAME" → its detail, {error} when there's none
	route: { page: "tools", name: null, tab: "call" },
	notice: null,
};

const listeners = new Set();
let isScheduled = false;

/** Render soon. */
export function changed() {
	if (isScheduled) return;
	isScheduled = true;
	queueMicrotask(() => {
		isScheduled = false;
		for (const each of listeners) each();
	});
}
export const onChange = (listener) => listeners.add(listener);

const LONGEST_HISTORY = 200;
const byName = (a, b) => (a.name < b.name ? -1 : 1);

let isFollowing = false;

/** Load all, then follow what happens; once is enough. */
export async function start() {
	while (hasToken() && !isFollowing) {
		try {
			const last = await load();
			if (isFollowing) return;
			isFollowing = true;
			follow(last, happened, (status) => {
				state.status = status;
				if (status === "rejected") dropToken();
				changed();
			});
		} catch (error) {
			if (error.status === 401) dropToken();
			state.status = error.status === 401 ? "rejected" : "reconnecting";
			changed();
			await pause(500);
		}
	}
}

async function load() {
	const [found, past] = await Promise.all([request("/dev/state"), request("/dev/history")]);
	const { root, tools, procedures, views, last_change: lastChange } = found;
	Object.assign(state, { root, tools, procedures, views, lastChange, calls: past.calls });
	document.title = `${root} · sovl-tools dev`;
	await refresh();
	changed();
	return found.event;
}

function happened({ event, data }) {
	if (event === "reset") load().catch(() => setTimeout(happened, 500, { event }));
	if (event === "call") addCall(data);
	if (event === "change") applyChange(data);
	changed();
}

function addCall(row) {
	const others = state.calls.filter((each) => each.id !== row.id);
	state.calls = [row, ...others].slice(0, LONGEST_HISTORY);
}

function applyChange(data) {
	for (const kind of ["tools", "procedures"]) {
		const rows = new Map(state[kind].map((each) => [each.name, each]));
		for (const name of data.removed ?? []) rows.delete(name);
		for (const row of data[kind] ?? []) rows.set(row.name, row);
		state[kind] = [...rows.values()].sort(byName);
	}
	for (const key of state.details.keys()) if (key !== currentKey()) state.details.delete(key);
	state.lastChange = data.last_change;
	refresh();
}

const currentKey = () => {
	const { page, name } = state.route;
	return name && `${page}/${name}`;
};

/** Return the detail of the tool or procedure that is shown, undefined while it's loading. */
export const current = () => state.details.get(currentKey());

let asked = 0;

/** Load the detail that is shown again. */
export async function refresh() {
	const key = currentKey();
	if (!key) return;
	const { page, name } = state.route;
	const number = ++asked;
	const found = await request(pathOf(page, name)).catch((error) => error);
	if (number !== asked) return; // a later answer is newer
	if (!(found instanceof Error)) state.details.set(key, found);
	else if (found.status) state.details.set(key, { error: found.message });
	changed();
}

/** Return the row of a tool or procedure. */
export const rowOf = (name, kind = "tools") => state[kind].find((each) => each.name === name);

/** Go to where the URL says. */
export function readRoute() {
	const [path, query = ""] = location.hash.slice(1).split("?");
	const parts = path.split("/").slice(1).map(decoded);
	const page = ["tools", "procedures", "find", "calls"].includes(parts[0]) ? parts[0] : "tools";
	const isItem = page === "tools" || page === "procedures";
	state.route = {
		page,
		name: (isItem && parts[1]) || null,
		tab: parts[2] || "call",
		query: new URLSearchParams(query),
	};
	if (currentKey() && hasToken()) refresh();
	changed();
}

const decoded = (text) => {
	try {
		return decodeURIComponent(text);
	} catch {
		return text;
	}
};

/** Return the link to a tool, a procedure or a page. */
export function linkTo(page, name, tab) {
	const parts = [page, name, tab].filter((each) => each).map(encodeURIComponent);
	return `#/${parts.join("/")}`;
}
export const go = (...where) => { location.hash = linkTo(...where); };

/** Show a line at the bottom for some seconds. */
export function notify(text, level = "ok") {
	const notice = { text, level };
	state.notice = notice;
	changed();
	setTimeout(() => {
		if (state.notice !== notice) return;
		state.notice = null;
		changed();
	}, 6000);
}

/** Return what this tab keeps under a name over reloads, and keep something. */
export function kept(name) {
	try {
		return JSON.parse(sessionStorage[`sovl-tools:${name}`]);
	} catch {
		return undefined;
	}
}
export function keep(name, value) {
	try {
		sessionStorage[`sovl-tools:${name}`] = JSON.stringify(value);
	} catch {
		// the storage is full: it's still in memory
	}
}
