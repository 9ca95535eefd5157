// The tab Providers: what each gets of a tool, and what that loses.

import { html, nothing } from "./lit/lit-html.js";
import { pathOf, request } from "./api.js";
import { json } from "./code.js";
import { copied } from "./run.js";
import { changed, linkTo, rowOf, state } from "./state.js";

let table = { key: null, rows: [] };
let chosen = { key: null, definition: null };

/** Load `what` once for a key; the old rows stay until the new ones are there. */
function loaded(store, key, path, take) {
	if (store.key === key) return;
	store.key = key;
	request(path).catch((error) => ({ error: error.message })).then((found) => {
		if (store.key !== key) return;
		take(found);
		changed();
	});
}

export function providersView({ name }) {
	const version = `${name}@${rowOf(name)?.version}`;
	loaded(table, version, pathOf("tools", name, "/as"), (found) => {
		Object.assign(table, { name, rows: found.error ? [] : found, error: found.error });
	});
	if (table.name !== name) return html`<p class="quiet empty">Loading…</p>`;
	if (table.error) return html`<p class="quiet empty">${table.error}</p>`;
	const target = state.route.query.get("target") ?? table.rows[0]?.target;
	const row = table.rows.find((each) => each.target === target);
	if (row) loaded(chosen, `${version}/${target}`, pathOf("tools", name, `/as/${encodeURIComponent(target)}`), (found) => {
		Object.assign(chosen, { target, definition: found.definition });
	});
	return html`<div class="two providers">
		<div>
			<table><thead><tr><th scope="col">Provider</th><th scope="col">Bytes</th><th scope="col">Tokens</th><th scope="col">Lost</th></tr></thead>
				<tbody>${table.rows.map((each) => html`<tr class=${each.target === target ? "chosen" : ""}>
					<td><a href=${`${linkTo("tools", name, "providers")}?target=${each.target}`} aria-current=${each.target === target ? "true" : "false"}>${each.target}</a></td>
					${each.rejected
						? html`<td colspan="3" class="bad">rejected</td>`
						: html`<td>${each.bytes.toLocaleString("en")}</td><td>${each.tokens.toLocaleString("en")}</td><td>${each.losses.length || "nothing"}</td>`}</tr>`)}
				</tbody></table>
			${row ? losses(row) : nothing}
		</div>
		<section aria-labelledby="gets-title">
			<div class="bar"><h2 id="gets-title">What ${target} gets</h2>${chosen.definition ? html`<span class="end">
				<button class="quiet" @click=${() => copied(JSON.stringify(chosen.definition, null, 2), "The definition")}>Copy</button></span>` : nothing}</div>
			${chosen.definition ? json(chosen.definition) : html`<p class="quiet">nothing</p>`}
		</section>
	</div>`;
}

function losses({ target, losses: found, rejected }) {
	return html`
		${rejected ? html`<h2>Why ${target} rejects it</h2><p class="error">${rejected}</p>` : nothing}
		${found.length ? html`<h2>What ${target} loses</h2>` : nothing}
		${found.map((each) => html`<div class="loss">
			<p>${each.kind ? html`<span class="tag">${each.kind.replace("_", " ")}</span> ` : nothing}${each.message}</p>
			<p><code>${each.path.slice(1).replaceAll("/", ".")}</code></p>
			${each.help ? html`<p class="quiet">${each.help}</p>` : nothing}</div>`)}`;
}
