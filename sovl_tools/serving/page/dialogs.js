// Dialogs: what running calls ask, saving an example, and the keys.

import { html, nothing, render } from "./lit/lit-html.js";
import { request } from "./api.js";
import { json } from "./code.js";
import { Form, sendOnEnter } from "./form.js";
import { notify } from "./state.js";

const waiting = [];

/**
 * Show a dialog and return what `close(value)` gives; undefined when Esc closes it. Dialogs come one
 * after the other. `draw(close, again)` returns the template; `signal` closes it from outside.
 */
export function ask(draw, signal) {
	return new Promise((done) => {
		waiting.push({ draw, done, signal });
		if (waiting.length === 1) next();
	});
}

function next() {
	const [{ draw, done, signal }] = waiting;
	const before = document.activeElement;
	const element = document.createElement("dialog");
	let value;
	const close = (given) => {
		value = given;
		element.close();
	};
	const again = () => render(draw(close, again), element);
	const abort = () => element.close();
	element.setAttribute("aria-labelledby", "dialog-title");
	element.addEventListener("close", () => {
		signal?.removeEventListener("abort", abort);
		element.remove();
		before?.focus?.();
		waiting.shift();
		done(value);
		if (waiting.length) next();
	});
	document.body.append(element);
	again();
	element.showModal();
	if (signal?.aborted) element.close();
	else signal?.addEventListener("abort", abort);
}

/** Ask what a running call asks, and answer it. */
export async function answer(question, signal) {
	const { kind, id } = question;
	const draw = { elicit, approve, open, sample }[kind];
	const given = (draw && (await ask(draw(question), signal))) ?? DECLINED[kind];
	if (signal.aborted || !given) return;
	await request(`/answers/${encodeURIComponent(id)}`, { body: given }).catch(async (error) => {
		if (error.status !== 422) return;
		notify(error.message, "error");
		await answer(question, signal);
	});
}
const DECLINED = {
	elicit: { action: "cancel" }, approve: { approved: false }, open: { action: "cancel" },
	sample: { text: "" }, roots: { roots: [] },
};

function elicit(question) {
	let redraw;
	const form = new Form("ask", () => redraw?.());
	form.show(question.schema ?? { type: "object", properties: {} });
	return (close, again) => {
		redraw = again;
		const send = (event) => {
			event.preventDefault();
			const content = form.value;
			if (content === undefined) again();
			else close({ action: "accept", content });
		};
		return html`<form novalidate @submit=${send}>
			<h2 id="dialog-title">${question.tool} asks</h2>
			<p>${question.message}</p>
			${form.render()}
			<div class="buttons"><button class="primary">Answer</button>
				<button type="button" @click=${() => close({ action: "decline" })}>Decline</button></div>
		</form>`;
	};
}

const approve = ({ tool, arguments: given, message }) => (close) => html`
	<h2 id="dialog-title">Run ${tool}?</h2>
	<p>${message ?? "The call needs your approval."}</p>
	${given ? json(given) : nothing}
	<div class="buttons"><button class="primary" @click=${() => close({ approved: true })}>Approve</button>
		<button @click=${() => close({ approved: false })}>Deny</button></div>`;

const open = ({ tool, message, url }) => (close) => html`
	<h2 id="dialog-title">${tool} asks you to open a page</h2>
	<p>${message}</p>
	<p><code>${url}</code></p>
	<div class="buttons">${/^https?:/i.test(url)
		? html`<a class="button primary" href=${url} target="_blank" rel="noopener noreferrer" @click=${() => close({ action: "accept" })}>Open</a>`
		: nothing}
		<button @click=${() => close({ action: "decline" })}>Decline</button></div>`;

const sample = ({ tool, messages }) => textDialog({
	title: `${tool} asks a model`, body: json(messages), label: "answer", hint: "you are the model",
	button: "Answer", read: (text) => ({ text }),
});

const textDialog = ({ title, body = nothing, label, hint, button, read }) => (close) => html`
	<form @submit=${(event) => { event.preventDefault(); close(read(event.target.text.value)); }}>
		<h2 id="dialog-title">${title}</h2>
		${body}
		<div class="field"><div class="label"><label for="ask-text">${label}</label><span class="hint">${hint}</span></div>
			<textarea id="ask-text" name="text" rows="2" @keydown=${sendOnEnter}></textarea></div>
		<div class="buttons"><button class="primary">${button}</button>
			<button type="button" @click=${() => close()}>Cancel</button></div>
	</form>`;

const KEYS = [
	["j k", "the next and the previous tool"], ["/", "filter the tools"],
	["1 2 3 4", "Call, Findings, Source, Providers"], ["5 6", "Find, Calls"], ["i", "the first field of the form"],
	["Enter", "call, from a field"], ["Shift Enter", "a new line in a text"],
	["Ctrl Enter", "call, from wherever you are"], ["n", "the next step of a procedure"], ["Esc", "leave a field, stop a call, close a dialog"], ["?", "these keys"],
];

/** Show the keys. */
export const showKeys = () => ask((close) => html`
	<h2 id="dialog-title">Keys</h2>
	<dl class="keys">${KEYS.map(([keys, what]) => html`
		<div><dt>${keys.split(" ").map((key) => html`<kbd>${key}</kbd> `)}</dt><dd>${what}</dd></div>`)}</dl>
	<div class="buttons"><button class="primary" @click=${() => close()}>Close</button></div>`);

/** Ask for the name of an example; undefined when the user doesn't want to save it. */
export const askName = () => ask(textDialog({
	title: "Save as example", body: html`<p>It's written into the manifest, and sovl-tools test runs it.</p>`,
	label: "description", hint: "optional", button: "Save", read: (text) => text.trim(),
}));

/** Ask whether an example is kept although its output isn't always the same. */
export const askKeep = ({ first, second }) => ask((close) => html`
	<h2 id="dialog-title">The output differs</h2>
	<p>A second run gave another output, so a test of the example would fail.</p>
	<div class="two"><div><h3>First run</h3>${json(first)}</div><div><h3>Second run</h3>${json(second)}</div></div>
	<div class="buttons"><button class="primary" @click=${() => close(true)}>Save without the output</button>
		<button @click=${() => close()}>Cancel</button></div>`);
