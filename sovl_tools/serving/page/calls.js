// Calls: those of all clients, newest first.

import { html, nothing } from "./lit/lit-html.js";
import { brief, clock, mark } from "./call.js";
import { block } from "./code.js";
import { duration } from "./run.js";
import { linkTo, state } from "./state.js";

const CLIENTS = { page: "this page", mcp: "MCP", http: "HTTP" };

export function callsView() {
	const { calls } = state;
	return html`<h1>Calls</h1>
		<p class="lead">What this page and other clients of this server have called, newest first.</p>
		${calls.length ? nothing : html`<p class="quiet empty">No calls yet.</p>`}
		<ul class="calls">${calls.map((each) => html`<li><details>
			<summary>${mark(each)}<span class="time">${clock(each.time)}</span>
				<code class="tool">${each.tool}</code>
				<span class="client">${CLIENTS[each.client] ?? each.client}</span>
				<code class="cut">${each.arguments === undefined ? "" : brief(each.arguments)}</code>
				<span class="quiet">${each.state === "running" ? "running" : each.ok ? duration(each.ms) : each.type}</span></summary>
			<p><a href=${linkTo(state.procedures.some(({ name }) => name === each.tool) ? "procedures" : "tools", each.tool)}>${each.tool}</a></p>
			${each.arguments === undefined ? nothing : html`<h2>Arguments</h2>${block(typeof each.arguments === "string" ? each.arguments : JSON.stringify(each.arguments, null, 2), "json")}`}
			${each.error ? html`<h2>Error</h2>${block(each.error, "text")}` : nothing}
			${each.ok && each.result != null ? html`<h2>Result</h2>${block(each.result, "json")}` : nothing}
		</details></li>`)}</ul>`;
}
