// The tab Call of a tool: its form, its result and its earlier calls.

import { html, nothing } from "./lit/lit-html.js";
import { keyed } from "./lit/directives/keyed.js";
import { pathOf, request } from "./api.js";
import { askKeep, askName } from "./dialogs.js";
import { Form } from "./form.js";
import { Run, copied, duration, outcome } from "./run.js";
import { changed, keep, kept, notify, rowOf, state } from "./state.js";

const MOST_EARLIER = 8;
const forms = new Map();
const runs = new Map();

/** Return the form of a tool or procedure, with the draft that this tab has kept. */
export function formOf(kind, name, schema) {
	const key = `${kind}/${name}`;
	let form = forms.get(key);
	if (!form) {
		form = new Form(`${kind}-${name}`, () => {
			keep(`draft:${key}`, form);
			changed();
		});
		const before = kept(`draft:${key}`);
		if (before) form.revive(before);
		forms.set(key, form);
	}
	form.show(schema);
	return form;
}

export const runOf = (kind, name) => runs.get(`${kind}/${name}`);

/** Start a run with what the form has, and show its errors at their fields. */
export async function start(kind, name, { path, body }) {
	const form = forms.get(`${kind}/${name}`);
	const args = form.value;
	changed();
	if (args === undefined) return focusError(form);
	runOf(kind, name)?.stop();
	const run = new Run(path, args, body(args));
	runs.set(`${kind}/${name}`, run);
	changed();
	const { error } = await run.follow();
	if (!error?.errors?.length || runOf(kind, name) !== run) return;
	form.fail(error.errors);
	focusError(form);
}

// after the errors are rendered, which may move some to fields that exist
const focusError = ({ id }) => setTimeout(() =>
	document.querySelector(`#${CSS.escape(id)} [aria-invalid="true"]`)?.focus());

/** Call the tool that is shown. */
export const call = (name) =>
	start("tools", name, {
		path: pathOf("tools", name, "/call"),
		body: (args) => ({ arguments: args, id: crypto.randomUUID() }),
	});

const CALLABLE = ["loaded", "warnings", "last_good"];

export function callView(detail) {
	const { name, schema, examples } = detail;
	const row = rowOf(name) ?? detail;
	const form = formOf("tools", name, schema);
	const run = runOf("tools", name);
	if (!CALLABLE.includes(row.state) && !run)
		return html`<p class="quiet empty">The tool can't be called until it loads.</p>`;
	const isOld = run?.result?.version && run.result.version !== row.version;
	const send = (event) => {
		event.preventDefault();
		call(name);
	};
	return keyed(name, html`<div class="two call">
		<form novalidate id="arguments" autocomplete="off" @submit=${send}>
			<div class="bar"><h2>Arguments</h2><span class="end">
				${examples.length ? picker(form, examples) : nothing}
				<button type="button" class="quiet" aria-pressed=${form.asJson} @click=${() => toggleJson(form)}>${form.asJson ? "as a form" : "as JSON"}</button></span></div>
			${form.render()}
			<div class="actions">
				<button class="primary" ?disabled=${!CALLABLE.includes(row.state)}>Call <kbd>↵</kbd></button>
				${run?.isRunning ? html`<button type="button" @click=${() => run.stop()}>Stop</button>` : nothing}
				<button type="button" class="quiet" @click=${() => form.reset()}>Reset</button>
				<span class="end">
					<button type="button" class="quiet" @click=${() => copyAs(form, (args) => commandLine(name, args), "The command line")}>Copy as command line</button>
					<button type="button" class="quiet" @click=${() => copyAs(form, (args) => python(name, args), "The Python code")}>as Python</button></span>
			</div>
		</form>
		<div>
			${outcome(run, {
				note: isOld ? html`<span class="tag warn">result of an earlier version</span>` : nothing,
				tools: html`<button class="quiet" @click=${() => saveExample(detail, run)}>Save as example</button>`,
			})}
			${earlier(name, form)}
		</div>
	</div>`);
}

function toggleJson(form) {
	const args = form.value;
	if (args === undefined) return changed();
	form.reset(args);
	form.asJson = !form.asJson;
	form.changed();
}

function picker(form, examples) {
	const pick = ({ target }) => {
		const found = examples[target.value];
		target.value = "";
		form.asJson = false;
		form.reset(found.arguments ?? {});
	};
	return html`<select class="quiet" aria-label="Fill in an example" @change=${pick}>
		<option value="">Example…</option>
		${examples.map((each, i) => html`<option value=${i}>${each.name ?? `${i + 1}: ${JSON.stringify(each.arguments ?? {}).slice(0, 60)}`}</option>`)}
	</select>`;
}

function earlier(name, form) {
	const found = state.calls.filter((each) => each.tool === name && each.state !== "running");
	if (!found.length) return nothing;
	return html`<section aria-labelledby="earlier-title"><h2 id="earlier-title">Earlier calls</h2>
		<ul class="earlier">${found.slice(0, MOST_EARLIER).map((each) => html`
			<li><button title="Fill in these arguments" @click=${() => fill(form, each)}>
				${mark(each)}<span class="time">${clock(each.time)}</span>
				<code class="cut">${brief(each.arguments)}</code>
				<span class="quiet">${each.ok ? duration(each.ms) : each.type}</span></button></li>`)}</ul></section>`;
}

function fill(form, { arguments: given }) {
	if (typeof given !== "object" || given === null) return notify("These arguments were too long to keep", "warning");
	form.asJson = false;
	form.reset(given);
}

export const brief = (value) => (typeof value === "string" ? value : JSON.stringify(value ?? {})).slice(0, 300);
export const clock = (seconds) => new Date(seconds * 1000).toTimeString().slice(0, 8);
export const mark = ({ ok, state: at }) => {
	const [shape, text, kind] = at === "running" ? ["…", "running", "quiet"] : ok ? ["✓", "succeeded", "ok"] : ["✕", "failed", "bad"];
	return html`<span class=${`mark ${kind}`} role="img" aria-label=${text}>${shape}</span>`;
};

async function saveExample({ name, version }, { args, result }) {
	const title = await askName();
	if (title === undefined) return;
	const body = { name: title || null, arguments: args, version: result.version ?? version, keep: false };
	const save = () => request(pathOf("tools", name, "/examples"), { body });
	try {
		const { path, line } = await save().catch(async ({ error, ...other }) => {
			if (error?.type !== "differs") throw Object.assign(new Error(error?.message ?? "not saved"), other);
			body.keep = await askKeep(error);
			return body.keep ? save() : {};
		});
		if (path) notify(`Saved in ${path}:${line}`);
	} catch (error) {
		notify(`Not saved: ${error.message}`, "error");
	}
}

async function copyAs(form, write, what) {
	const args = form.value;
	if (args === undefined) return changed();
	await copied(write(args), what);
}

const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;
const word = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : quoted(text));
const commandLine = (name, args) => `sovl-tools call ${word(name)} --args ${quoted(JSON.stringify(args))}`;

const python = (name, args) => `from sovl_tools import Tooler, ToolRegistry

tooler = Tooler(ToolRegistry.from_directory("tools"))
print(tooler.call_sync(${JSON.stringify(name)}, ${literal(args)}).value)
`;

function literal(value) {
	if (value === null) return "None";
	if (value === true) return "True";
	if (value === false) return "False";
	if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
	if (typeof value !== "object" || JSON.isRawJSON?.(value)) return JSON.stringify(value);
	return `{${Object.entries(value).map(([key, each]) => `${JSON.stringify(key)}: ${literal(each)}`).join(", ")}}`;
}
