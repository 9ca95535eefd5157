// Code and JSON with colours, line numbers and marks.

import { html, nothing } from "./lit/lit-html.js";

const LITERAL = String.raw`\b(?:true|false|null|None|True|False)\b|-?\b\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?\b`;
const LANGUAGES = {
	json: [["key", String.raw`"(?:\\.|[^"\\\n])*"(?=\s*:)`], ["string", String.raw`"(?:\\.|[^"\\\n])*"`], ["literal", LITERAL]],
	python: [
		["comment", "#[^\\n]*"],
		["string", String.raw`[rRbBfFuU]{0,2}(?:"""[\s\S]*?"""|'''[\s\S]*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')`],
		["keyword", String.raw`\b(?:and|as|assert|async|await|break|class|continue|def|del|elif|else|except|finally|for|from|global|if|import|in|is|lambda|match|nonlocal|not|or|pass|raise|return|try|while|with|yield)\b`],
		["literal", LITERAL],
	],
	yaml: [
		["comment", String.raw`(?<=^|\s)#[^\n]*`],
		["key", String.raw`[\w.-]+(?=:(?:\s|$))`],
		["string", String.raw`"(?:\\.|[^"\\])*"|'(?:''|[^'])*'`],
		["literal", LITERAL],
	],
};
const PATTERNS = Object.fromEntries(Object.entries(LANGUAGES).map(([name, parts]) =>
	[name, new RegExp(parts.map(([kind, pattern]) => `(?<${kind}>${pattern})`).join("|"), "gm")]));
const FARTHEST = 80; // column
const MOST = 200_000; // characters that get colours

/** Return the lines of a text, each a list of [kind or "", text]. */
function linesOf(text, language) {
	const lines = [[]];
	const add = (kind, part) => part.split("\n").forEach((each, i) => {
		if (i) lines.push([]);
		if (each) lines.at(-1).push([kind, each]);
	});
	let end = 0;
	const pattern = text.length <= MOST ? PATTERNS[language] : undefined;
	for (const match of pattern ? text.matchAll(pattern) : []) {
		add("", text.slice(end, match.index));
		add(Object.keys(match.groups).find((kind) => match.groups[kind] !== undefined), match[0]);
		end = match.index + match[0].length;
	}
	add("", text.slice(end));
	return lines;
}

const spans = (line) => line.filter(([, text]) => text).map(([kind, text]) => (kind ? html`<span class=${`t-${kind}`}>${text}</span>` : text));

/** Return a line with `[from, to)`, in characters, marked. */
function marked(line, from, to) {
	const found = [];
	let at = 0;
	for (const [kind, text] of line) {
		const characters = [...text];
		const cut = (a, b) => characters.slice(Math.max(0, a - at), Math.max(0, b - at)).join("");
		found.push(spans([[kind, cut(0, from)]]), spans([["mark", cut(from, to)]]), spans([[kind, cut(to, Infinity)]]));
		at += characters.length;
	}
	return found;
}

/** Show JSON; `replacer` is that of JSON.stringify. */
export function json(value, replacer = null) {
	return block(JSON.stringify(value, replacer, 2) ?? "", "json");
}

/** Show text with colours, such as a result. */
export function block(text, language) {
	const isCut = text.length > MOST;
	const lines = linesOf(isCut ? text.slice(0, MOST) : text, language);
	return html`<pre class="code">${lines.map((line, i) => [i ? "\n" : nothing, spans(line)])}${
		isCut ? html`\n<span class="quiet">… ${(text.length - MOST).toLocaleString("en")} more characters; Copy has all of them</span>` : nothing}</pre>`;
}

/**
 * Show lines of a file with numbers. `marks` are findings, marked in their lines; `under` says
 * that each is also written under its line.
 */
export function file({ text, language }, { from = 1, to = Infinity, marks = [], under = false } = {}) {
	const lines = linesOf(text.replace(/\r\n?/g, "\n").replace(/\n$/, ""), language);
	const shown = lines.slice(from - 1, to);
	const width = String(from + shown.length - 1).length;
	return html`<div class="code file">${shown.map((line, i) => {
		const number = from + i;
		const here = marks.filter((each) => each.line === number);
		const [first] = here;
		const isExact = first && !under;
		const end = first && (first.end_line === first.line ? first.end_column : Infinity);
		return html`<div class=${`line ${first ? `marked ${first.severity}` : ""}`}><span class="number">${String(number).padStart(width)}</span><code>${
			isExact ? marked(line, first.column - 1, end - 1) : spans(line)}</code></div>${under ? here.map((each) => html`
			<div class=${`line note ${each.severity}`}><span class="number"></span><code>${pointing(each)} ${each.code} ${each.message}</code></div>`) : nothing}`;
	})}</div>`;
}

// a mark far to the right would be broken into the next line
const pointing = ({ column }) => (column <= FARTHEST ? `${" ".repeat(Math.max(0, column - 1))}^` : `column ${column}:`);

/** Copy a text. */
export const copy = (text) => navigator.clipboard.writeText(text);
