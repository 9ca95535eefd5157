// Find: the tools that a text finds, by their phrases and by search.

import { html, nothing } from "./lit/lit-html.js";
import { request } from "./api.js";
import { changed, keep, kept, linkTo } from "./state.js";

const PAUSE = 60; // milliseconds without a key before it asks
let text = kept("find") ?? "";
let found = { text: "", phrases: [], search: [] };
let asked = null;
let timer;

/** Ask again, such as after a change of the tools. */
export function findAgain() {
	asked = null;
}

async function find() {
	const wanted = text;
	const answer = wanted.trim() ? await request(`/dev/find?q=${encodeURIComponent(wanted)}`).catch(() => null) : { phrases: [], search: [] };
	if (wanted !== text || !answer) return;
	found = { text: wanted, ...answer };
	changed();
}

function edit({ target }) {
	text = target.value;
	keep("find", text);
	changed();
}

export function findView() {
	if (asked !== text) {
		asked = text;
		clearTimeout(timer);
		timer = setTimeout(find, PAUSE);
	}
	const { phrases, search } = found;
	return html`<h1>Which tools does a text find?</h1>
		<p class="lead">Type what a user would say. Phrases are matched word for word; the search ranks tools that share words with it.</p>
		<input class="large" id="find" aria-label="Text" autocomplete="off" spellcheck="false" placeholder="draw a chart of …" .value=${text} @input=${edit}>
		${found.text.trim() ? html`<div class="two">
			<section aria-labelledby="phrases-title"><h2 id="phrases-title">Phrases <span class="count">${phrases.length}</span></h2>
				${phrases.length ? html`<p class="quiet">${marked(found.text, phrases)}</p>` : html`<p class="quiet">No phrase of a tool is in it.</p>`}
				${phrases.map((each) => html`<div class="bar hit"><a href=${linkTo("tools", each.tool)}>${each.tool}</a> <span>“${each.phrase}”</span>
					<span class="end quiet">${Math.round(each.share * 100)} % of the text</span></div>`)}</section>
			<section aria-labelledby="search-title"><h2 id="search-title">Search <span class="count">${search.length}</span></h2>
				${search.length ? nothing : html`<p class="quiet">No tool shares a word with it.</p>`}
				${search.map((each) => html`<div class="bar hit"><a href=${linkTo("tools", each.tool)}>${each.tool}</a>
					<span class="end"><meter aria-label=${`Score of ${each.tool}`} min="0" max="1" .value=${each.score}></meter> ${each.score.toFixed(2)}</span></div>
					<ul class="words">${each.words.map(({ word, fields }) => html`<li><strong>${word}</strong> in ${fields.join(", ")}</li>`)}</ul>`)}</section>
		</div>` : nothing}`;
}

/** Mark the phrases in the text; of those that overlap, the first. Places are in code points. */
function marked(whole, phrases) {
	const characters = [...whole];
	const parts = [];
	let at = 0;
	for (const { start, end } of [...phrases].sort((a, b) => a.start - b.start)) {
		if (start < at) continue;
		parts.push(characters.slice(at, start).join(""), html`<mark>${characters.slice(start, end).join("")}</mark>`);
		at = end;
	}
	return [...parts, characters.slice(at).join("")];
}
