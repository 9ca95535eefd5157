// A procedure: its steps as nested boxes, its inputs, and its runs.

import { html, nothing } from "./lit/lit-html.js";
import { keyed } from "./lit/directives/keyed.js";
import { pathOf, request } from "./api.js";
import { formOf, runOf, start } from "./call.js";
import { json } from "./code.js";
import { findingsView } from "./findings.js";
import { copied, duration, outcome } from "./run.js";
import { notify } from "./state.js";

/** Run the procedure that is shown. */
export const runProcedure = (name, stepping = false) =>
	start("procedures", name, {
		path: pathOf("procedures", name, "/run"),
		body: (inputs) => ({ inputs, stepping, id: crypto.randomUUID() }),
	});

export function procedureView(detail) {
	const { name, description, path, steps = [], findings = [], errors } = detail;
	const found = findings.length ? findingsView(detail, "procedures") : nothing;
	const form = formOf("procedures", name, detail.inputs ?? detail.schema);
	const run = runOf("procedures", name);
	const send = (event) => {
		event.preventDefault();
		runProcedure(name, event.submitter?.value === "step");
	};
	return keyed(name, html`
		<header class="title"><div class="names"><h1>${name}</h1><span class="tag">procedure</span></div>
			<p class="lead">${description}</p><p class="place"><code>${path}</code></p></header>
		${errors ? found : nothing}
		<div class="two">
			<section aria-labelledby="steps-title">
				<div class="bar"><h2 id="steps-title">Steps</h2><span class="end">${detail.mermaid
					? html`<button class="quiet" @click=${() => copied(detail.mermaid, "The diagram")}>Copy as Mermaid</button>` : nothing}</span></div>
				${stepsOf(steps, run)}
			</section>
			<div>
				<form novalidate id="arguments" autocomplete="off" @submit=${send}>
					<div class="bar"><h2>Inputs</h2></div>
					${form.render()}
					<div class="actions">${run?.isRunning ? running(run) : html`
						<button class="primary">Run</button><button value="step">Step by step</button>`}
						<button type="button" class="quiet" @click=${() => form.reset()}>Reset</button></div>
				</form>
				${outcome(run)}
			</div>
		</div>
		${errors ? nothing : found}`);
}

function running(run) {
	const post = (what) => () =>
		request(`/dev/runs/${encodeURIComponent(run.id)}/${what}`, { body: {} }).catch((error) => notify(error.message, "error"));
	return html`
		${run.body.stepping ? html`
			<button type="button" class="primary" ?disabled=${!run.waiting} @click=${post("next")}>Next <kbd>n</kbd></button>
			<button type="button" ?disabled=${!run.id} @click=${post("resume")}>Run on</button>` : nothing}
		<button type="button" @click=${() => run.stop()}>Stop</button>`;
}

function stepsOf(steps, run) {
	return html`<ol class="steps">${steps.map((step) => html`<li>${box(step, run)}</li>`)}</ol>`;
}

function box(step, run) {
	const found = run?.steps.get(step.id);
	const at = run?.waiting === step.id ? "waiting" : found?.state ?? "";
	const name = step.result_name ? html` <span class="saved">→ ${step.result_name}</span>` : nothing;
	return html`<div class=${`step ${at} kind-${step.kind}`}>
		<div class="head"><code>${step.title}${name}</code>${at ? html`<span class="at">${words(at, found)}</span>` : nothing}</div>
		${step.note ? html`<p class="quiet">${step.note}</p>` : nothing}
		${found && found.value !== undefined ? html`<details><summary>result</summary>${json(found.value)}</details>` : nothing}
		${step.branches?.length ? html`<div class=${step.kind === "parallel" ? "branches beside" : "branches"}>${step.branches.map((branch) => html`
			<div>${branch.label ? html`<p class="branch">${branch.label}</p>` : nothing}${stepsOf(branch.steps, run)}</div>`)}</div>` : nothing}
	</div>`;
}

const words = (at, found) =>
	at === "waiting" ? "next" : [at, found?.count > 1 ? `×${found.count}` : "", duration(found?.ms)].filter(Boolean).join(" ");
