// The frame of the page: the list of tools, where the user is, and the keys.

import { html, nothing, render } from "./lit/lit-html.js";
import { keyed } from "./lit/directives/keyed.js";
import { findToken, hasToken } from "./api.js";
import { call, callView, clock, runOf } from "./call.js";
import { callsView } from "./calls.js";
import { showKeys } from "./dialogs.js";
import { findAgain, findView } from "./find.js";
import { findingsView, sourceView } from "./findings.js";
import { procedureView, runProcedure } from "./procedure.js";
import { providersView } from "./providers.js";
import { duration } from "./run.js";
import { changed, current, go, linkTo, onChange, readRoute, rowOf, start, state } from "./state.js";

// state → its shape, and what it's called in the footer and at the tool
const STATES = {
	loaded: ["●", "loaded"], warnings: ["▲", "with warnings"], last_good: ["◐", "last good version"],
	rejected: ["■", "rejected"], disabled: ["○", "disabled"], unavailable: ["◌", "unavailable"],
};
const TABS = { call: callView, findings: findingsView, source: sourceView, providers: providersView };
const PAGES = { tools: "Tools", find: "Find", calls: "Calls" };
const title = (text) => text[0].toUpperCase() + text.slice(1);

const shape = (at) => html`<span class=${`shape ${at}`} aria-hidden="true">${STATES[at]?.[0] ?? "●"}</span>`;

function frame() {
	if (!hasToken()) return welcome();
	const { page } = state.route;
	return html`
		<header class="top">
			<a class="brand" href="#/"><img src="/static/icon.svg" alt="" width="18" height="18"><strong>sovl-tools</strong> <span>dev</span></a>
			<nav aria-label="Pages">${Object.entries(PAGES).map(([name, text]) => html`
				<a href=${linkTo(name)} aria-current=${page === name || (page === "procedures" && name === "tools") ? "page" : "false"}>${text}${name === "calls" && state.calls.length ? html` <span class="count">${state.calls.length}</span>` : nothing}</a>`)}</nav>
			<span class="status ${state.status}" role="status"><span aria-hidden="true">●</span> ${state.status}</span>
			<button class="icon" aria-label="Keys" title="Keys" @click=${showKeys}>?</button>
		</header>
		${sidebar()}
		<main id="main" tabindex="-1">${mainView()}</main>
		${footer()}`;
}

const welcome = () => html`<main class="welcome"><h1>sovl-tools dev</h1>
	<p>${state.status === "rejected" ? "The server was started again with another token." : "This tab has no token."}
		Open the URL that <code>sovl-tools dev</code> printed.</p></main>`;

function shownTools() {
	const view = state.views.find(({ name }) => name === state.view);
	const words = state.filter.toLowerCase().split(/\s+/).filter(Boolean);
	const matches = (row) => {
		const text = [row.name, row.title, row.category, ...(row.tags ?? [])].join(" ").toLowerCase();
		return words.every((each) => text.includes(each));
	};
	const tools = state.tools.filter((row) => (!view || view.tools.includes(row.name)) && matches(row));
	return { tools, procedures: view ? [] : state.procedures.filter(matches) };
}

function sidebar() {
	const { tools, procedures } = shownTools();
	const filter = ({ target }) => {
		state.filter = target.value;
		changed();
	};
	const choose = (name) => () => {
		state.view = state.view === name ? null : name;
		changed();
	};
	return html`<nav class="side" aria-label="Tools">
		<div class="filter"><input id="filter" type="search" aria-label="Filter" placeholder="Filter" autocomplete="off" spellcheck="false" .value=${state.filter} @input=${filter}><kbd aria-hidden="true">/</kbd></div>
		<ul>${tools.map((row) => item("tools", row))}</ul>
		${tools.length || state.status === "connecting" ? nothing : html`<p class="quiet none">${state.tools.length ? "No tool matches." : "No tools yet."}</p>`}
		${procedures.length ? html`<h2>Procedures</h2><ul>${procedures.map((row) => item("procedures", row))}</ul>` : nothing}
		${state.views.length ? html`<h2>Views</h2><ul>${state.views.map(({ name, tools: each }) => html`
			<li><button class="item" aria-pressed=${state.view === name} @click=${choose(name)}><span class="shape" aria-hidden="true">▤</span><span class="name">${name}</span><span class="count">${each.length}</span></button></li>`)}</ul>` : nothing}
	</nav>`;
}

function item(kind, row) {
	const { name, errors = 0, warnings = 0 } = row;
	const isHere = state.route.page === kind && state.route.name === name;
	const at = row.state ?? "loaded";
	const icon = kind === "procedures" && at === "loaded" ? html`<span class="shape loaded" aria-hidden="true">▸</span>` : shape(at);
	const number = errors || warnings;
	return html`<li><a class="item" href=${linkTo(kind, name, sameTab(kind))} aria-current=${isHere ? "page" : "false"}>
		${icon}<span class="name">${name}</span>${at === "loaded" ? nothing : html`<span class="hidden">${STATES[at]?.[1]}</span>`}
		${number ? html`<span class=${`count ${errors ? "bad" : "warn"}`}>${number}<span class="hidden"> ${errors ? "errors" : "warnings"}</span></span>` : nothing}</a></li>`;
}
const isTab = (name) => Object.hasOwn(TABS, name);
// another tool is shown at the tab where the user is
const sameTab = (kind) => kind === "tools" && isTab(state.route.tab) && state.route.tab !== "call" && state.route.tab;

function mainView() {
	const { page, name } = state.route;
	if (page === "find") return findView();
	if (page === "calls") return callsView();
	if (!name) return overview();
	const detail = current();
	if (!detail) return html`<p class="quiet empty">Loading…</p>`;
	if (detail.error) return html`<h1>${name}</h1><p class="quiet empty">${detail.error}</p>`;
	return page === "procedures" ? procedureView(detail) : toolView(detail);
}

function overview() {
	const { tools, root, status } = state;
	if (status === "connecting") return html`<p class="quiet empty">Loading…</p>`;
	return html`<h1>${root}</h1>
		<p class="lead">${tools.length
			? "Select a tool to call it and to see what is wrong with it. The page follows every change of its files."
			: html`There are no tools yet. Make one with <code>sovl-tools new NAME</code>; it appears here.`}</p>`;
}

function toolView(detail) {
	const row = rowOf(detail.name) ?? detail;
	const tab = isTab(state.route.tab) ? state.route.tab : "call";
	const { title: about, description, tags = [], findings } = detail;
	const link = (name) => linkTo("tools", row.name, name === "call" ? null : name);
	const [, text] = STATES[row.state];
	return html`
		<header class="title"><div class="names"><h1>${row.name}</h1>
			${row.state === "loaded" ? nothing : html`<span class=${`badge ${row.state}`}>${shape(row.state)} ${text}</span>`}
			${detail.annotations?.destructive ? html`<span class="tag warn">destructive</span>` : nothing}
			${tags.map((each) => html`<span class="tag">${each}</span>`)}
			${detail.import_seconds >= 0.1 ? html`<span class="tag warn">import took ${duration(detail.import_seconds * 1000)}</span>` : nothing}</div>
			${about ? html`<p class="about-title">${about}</p>` : nothing}
			<p class="lead">${description}</p></header>
		${banner(row, detail)}
		<nav class="tabs" aria-label="Tool">${Object.keys(TABS).map((name) => html`
			<a href=${link(name)} aria-current=${tab === name ? "page" : "false"}>${title(name)}${name === "findings" && findings.length
				? html` <span class=${`count ${row.errors ? "bad" : "warn"}`}>${findings.length}</span>` : nothing}</a>`)}</nav>
		<div class="tab">${keyed(tab, TABS[tab](detail))}</div>`;
}

function banner(row, { reason }) {
	const see = row.errors ? html`<a href=${linkTo("tools", row.name, "findings")}>See ${row.errors === 1 ? "the error" : `${row.errors} errors`}</a>` : nothing;
	const text = {
		last_good: "The file as saved can't be loaded. Calls run the last good version.",
		rejected: "The tool can't be loaded, so no client can call it.",
		disabled: reason ?? "The tool is disabled in its manifest.",
		unavailable: reason ?? "The tool isn't available here.",
	}[row.state];
	return text ? html`<div class=${`banner ${row.state}`} role="status"><span>${text}</span>${see}</div>` : nothing;
}

function footer() {
	const { notice, lastChange: change, tools } = state;
	const counts = Object.entries(STATES).map(([name, [, text]]) => [name, text, tools.filter((row) => row.state === name).length]);
	return html`<footer>
		<span class="last" role="status">${notice
			? html`<span class=${notice.level}>${notice.text}</span>`
			: change ? html`<span class=${change.level}><span class="time">${clock(change.time)}</span> ${change.text}</span> <span class="quiet">${duration(change.ms)}</span>` : nothing}</span>
		<span class="counts">${counts.filter(([, , number]) => number).map(([name, text, number]) => html`<span>${shape(name)} ${number} ${text}</span>`)}</span>
	</footer>`;
}

// keys

const inField = (element) => element.matches("input, textarea, select, [contenteditable]");

function move(by) {
	const { tools, procedures } = shownTools();
	const all = [...tools.map(({ name }) => ["tools", name]), ...procedures.map(({ name }) => ["procedures", name])];
	if (!all.length) return;
	const at = all.findIndex(([kind, name]) => kind === state.route.page && name === state.route.name);
	const [kind, name] = all[Math.min(all.length - 1, Math.max(0, at < 0 ? 0 : at + by))];
	go(kind, name, sameTab(kind));
}

const goTab = (tab) => state.route.name && state.route.page === "tools" && go("tools", state.route.name, tab);
const KEYS = {
	j: () => move(1), k: () => move(-1),
	"/": () => document.getElementById("filter")?.focus(),
	1: () => goTab(null), 2: () => goTab("findings"), 3: () => goTab("source"), 4: () => goTab("providers"),
	5: () => go("find"), 6: () => go("calls"),
	i: () => document.querySelector("#arguments .fields :is(input, textarea, select, button), #find")?.focus(),
	n: () => document.querySelector(".actions [type=button].primary:enabled")?.click(),
	Enter: () => document.activeElement === document.body && document.querySelector("#arguments")?.requestSubmit(),
	Escape: () => runOf(state.route.page, state.route.name)?.stop(),
	"?": showKeys,
};

function onKey(event) {
	if (event.defaultPrevented || event.isComposing || document.querySelector("dialog[open]")) return;
	const { key, target } = event;
	const { page, name } = state.route;
	if (key === "Enter" && (event.ctrlKey || event.metaKey)) {
		event.preventDefault();
		if (name && page === "tools") call(name);
		else if (name) runProcedure(name);
		return;
	}
	if (event.ctrlKey || event.metaKey || event.altKey) return;
	if (inField(target)) {
		if (key === "Enter" && target.id === "filter") openFirst();
		if (key === "Escape") leave(target);
		return;
	}
	if (!Object.hasOwn(KEYS, key)) return;
	if (key !== "Enter" && key !== "Escape") event.preventDefault();
	KEYS[key]();
}

function openFirst() {
	const { tools, procedures } = shownTools();
	if (tools.length) go("tools", tools[0].name);
	else if (procedures.length) go("procedures", procedures[0].name);
}

function leave(field) {
	if (field.id === "filter" && state.filter) {
		state.filter = "";
		changed();
	}
	field.blur();
}

const root = document.createElement("div");
root.id = "app";
document.body.append(root);
onChange(() => render(frame(), root));
document.addEventListener("keydown", onKey);
let before = "";
addEventListener("hashchange", async () => {
	if (location.hash.startsWith("#token=")) {
		await findToken();
		start();
	}
	readRoute();
	const { page, name, tab } = state.route;
	const place = [page, name, tab].join("/");
	if (place !== before) document.getElementById("main")?.scrollTo(0, 0);
	before = place;
	document.querySelector(".side [aria-current=page]")?.scrollIntoView({ block: "nearest" });
	if (page === "find") queueMicrotask(() => document.getElementById("find")?.focus());
});
let seen = null;
onChange(() => {
	if (seen !== state.lastChange) findAgain();
	seen = state.lastChange;
});
await findToken();
readRoute();
start();
