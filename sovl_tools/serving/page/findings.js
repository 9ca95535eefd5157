// The tabs Findings and Source.

import { html, nothing } from "./lit/lit-html.js";
import { pathOf, request } from "./api.js";
import { file } from "./code.js";
import { notify } from "./state.js";

const BEFORE = 3; // lines of code before a mark
const AFTER = 2;

export function findingsView({ name, files, findings }, kind = "tools") {
	if (!findings.length) return html`<p class="quiet empty">Nothing is wrong with it.</p>`;
	return html`<div class="findings">${findings.map((each) => {
		const found = files.find(({ path }) => path === each.path);
		return html`<article class=${`finding ${each.severity}`}>
			<div class="bar"><h2><span class="rule" title=${each.name}>${each.code}</span> ${each.message}</h2>
				${each.fixable ? html`<span class="end"><button @click=${() => fix(kind, name, each)}>Fix</button></span>` : nothing}</div>
			<p class="place"><code>${each.path}:${each.line}:${each.column}</code>${each.url ? html` <a href=${each.url} target="_blank" rel="noreferrer">${each.code}</a>` : nothing}</p>
			${found ? file(found, { from: Math.max(1, each.line - BEFORE), to: each.line + AFTER, marks: [each] }) : nothing}
			${each.help ? html`<p class="help"><strong>help</strong> ${each.help}</p>` : nothing}
			${each.explanation ? html`<details class="help"><summary>${each.name}</summary>${each.explanation}</details>` : nothing}
		</article>`;
	})}</div>`;
}

async function fix(kind, name, { code, line }) {
	try {
		const { changed } = await request(pathOf(kind, name, "/fix"), { body: { code, line } });
		notify(`${code} is fixed in ${changed.join(", ")}`);
	} catch (error) {
		notify(`Not fixed: ${error.message}`, "error");
	}
}

export function sourceView({ files, findings }) {
	if (!files.length) return html`<p class="quiet empty">It has no files: it's defined in code.</p>`;
	return files.map((each) => html`<div class="source">
		<p class="place"><code>${each.path}</code></p>
		${file(each, { marks: findings.filter(({ path }) => path === each.path), under: true })}
	</div>`);
}
