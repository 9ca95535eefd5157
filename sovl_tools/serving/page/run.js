// A call or a run of a procedure, and what it shows while it runs and after.

import { html, nothing } from "./lit/lit-html.js";
import { events } from "./api.js";
import { block, copy, json } from "./code.js";
import { answer } from "./dialogs.js";
import { changed, notify } from "./state.js";

const MOST_LINES = 2_000;
const TICK = 200; // milliseconds between two looks at the clock

export class Run {
	/** Send a request whose answer is a stream of events that ends with the result. */
	constructor(path, args, body) {
		Object.assign(this, { path, args, body });
		this.began = Date.now();
		this.log = [];
		this.items = [];
		this.steps = new Map(); // step → its last event
		this.progress = this.result = this.id = this.waiting = null;
		this.stopping = new AbortController();
	}
	get isRunning() {
		return this.result === null;
	}

	/** Follow it to its end, and return the result. */
	async follow() {
		const clock = setInterval(changed, TICK);
		const { signal } = this.stopping;
		try {
			for await (const { event, data } of events(this.path, { body: this.body, signal })) {
				this.#take(event, data);
				changed();
				if (this.result) break;
			}
			this.result ??= failed("connection_lost", "the server closed the connection before the result");
		} catch (error) {
			const { type, errors } = error.error ?? {};
			this.result ??= signal.aborted
				? failed("stopped", "stopped")
				: failed(type ?? "connection_lost", error.message, errors);
		}
		clearInterval(clock);
		this.waiting = null;
		this.stopping.abort(); // what it asks isn't asked any longer
		changed();
		return this.result;
	}
	#take(event, data) {
		if (event === "progress") this.progress = data;
		else if (event === "log") this.#write(data);
		else if (event === "ask") answer(data, this.stopping.signal);
		else if (event === "item") this.items.push(data.value);
		else if (event === "started") this.id = data.run;
		else if (event === "waiting") this.waiting = data.step;
		else if (event === "step") {
			if (data.step === this.waiting) this.waiting = null;
			this.steps.set(data.step, data);
		} else if (event === "result") this.result = data;
	}
	#write({ level, message }) {
		const last = this.log.at(-1);
		// what is printed comes in pieces
		if (level === "print" && last?.level === "print" && !last.message.endsWith("\n")) last.message += message;
		else this.log.push({ level, message });
		if (this.log.length > MOST_LINES) this.log.shift();
	}
	stop() {
		this.stopping.abort();
	}
}

const failed = (type, message, errors = []) => ({ ok: false, error: { type, message, errors }, ms: null });

/** Show how long something took. */
export const duration = (ms) =>
	ms == null ? "" : ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;

/** Show what a run has reported, and its result. `tools` are buttons; `note` is shown next to the heading. */
export function outcome(run, { tools = nothing, note = nothing } = {}) {
	if (!run) return nothing;
	const { result, progress, log } = run;
	return html`<section aria-labelledby="result-title">
		<div class="bar"><h2 id="result-title">Result</h2>${note}
			<span class="end"><span class="quiet">${result ? duration(result.ms) : `running, ${duration(Date.now() - run.began)}`}</span>
			${result?.ok ? html`${tools}<button class="quiet" @click=${() => copied(asText(result.value), "The result")}>Copy</button>` : nothing}</span></div>
		${progress && !result ? progressOf(progress) : nothing}
		${run.items.length && !result ? json(run.items) : nothing}
		<div aria-live="polite">${result ? (result.ok ? valueOf(result) : errorOf(result)) : nothing}</div>
		${log.length ? html`<h3>Output</h3><div class="code log" role="log" tabindex="0" aria-label="Output">${log.map(({ level, message }) => html`
			<div class=${`line ${level}`}>${level === "print" ? nothing : html`<span class="level">${level}</span> `}${message.replace(/\n$/, "")}</div>`)}</div>` : nothing}
	</section>`;
}

function progressOf({ progress, total, message }) {
	const text = total ? `${progress} of ${total}` : `${progress}`;
	return html`<div class="progress"><progress aria-label="Progress" max=${total || 1} .value=${total ? progress : 0}></progress>
		<span>${text}</span> <span class="quiet">${message ?? ""}</span></div>`;
}

const asText = (value) => (typeof value === "string" ? value : JSON.stringify(value, null, 2));

function valueOf({ value, content = [] }) {
	if (content.length) return content.map(partOf);
	const pictures = picturesIn(value);
	return html`${pictures.map(([name, svg]) => picture(`data:image/svg+xml,${encodeURIComponent(svg)}`, name))}
		${typeof value === "string" ? (pictures.length ? nothing : block(value, "text")) : json(value, isShown)}`;
}

function partOf({ type, text, media_type: media = "", data, uri }) {
	const address = `data:${media};base64,${data}`;
	const about = uri ? html`<p class="quiet"><code>${uri}</code> ${media}</p>` : nothing;
	if (data && media.startsWith("image/")) return html`${about}${picture(address, "Picture")}`;
	if (data && media.startsWith("audio/")) return html`${about}<audio controls src=${address}></audio>`;
	return html`${about}${text === undefined ? html`<p class="quiet">${media}, ${data?.length ?? 0} characters in base64</p>` : block(text, "text")}`;
}

// a picture that is text is shown as a picture: in an img no script of it runs
const picture = (address, name) => html`<img class="picture" src=${address} alt=${name}>`;

const isSvg = (value) => typeof value === "string" && /^\s*(<\?xml[^>]*>\s*)?<svg[\s>]/.test(value);
const isShown = (_, value) => (isSvg(value) && value.length > 200 ? `${value.slice(0, 60)}… (${value.length.toLocaleString("en")} characters)` : value);

function picturesIn(value, name = "picture", depth = 0) {
	if (isSvg(value)) return [[name, value]];
	if (typeof value !== "object" || value === null || depth > 1) return [];
	return Object.entries(value).slice(0, 20).flatMap(([key, each]) => picturesIn(each, key, depth + 1));
}

const TITLES = { invalid_arguments: "The arguments don't match the schema", stopped: "Stopped", connection_lost: "The connection was lost" };

function errorOf({ error, place }) {
	const { type, message, errors = [], exception } = error;
	return html`<div class="failure">
		<p><strong>${TITLES[type] ?? exception ?? type}</strong>${TITLES[type] ? nothing : html` <span class="tag">${type}</span>`}</p>
		${errors.length
			? html`<ul>${errors.map((each) => html`<li><code>${each.pointer || "arguments"}</code> ${each.message}</li>`)}</ul>`
			: type === "stopped" ? nothing : html`<p class="message">${message}</p>`}
		${place ? html`<p class="quiet"><code>${place}</code></p>` : nothing}
	</div>`;
}

/** Copy a text and say so. */
export async function copied(text, what) {
	await copy(text);
	notify(`${what} is copied`);
}
