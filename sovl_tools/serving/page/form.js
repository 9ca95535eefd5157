// A form for the arguments that a JSON schema describes. The draft is the arguments themselves:
// each field shows one place of it, so what no field was used for stays as it was.

import { html, nothing } from "./lit/lit-html.js";
import {
	Raw, initial, joined, keysOf, kindOf, member, plain, put, resolve, revived, same, shows,
	valuesOf, variantOf,
} from "./schema.js";

const LONG = 120; // characters: a text that may be longer gets an area that grows

export class Form {
	/** `changed()` is told of every edit, and renders. */
	constructor(id, changed) {
		this.id = id;
		this.schema = {};
		this.draft = undefined;
		this.errors = new Map(); // pointer → messages
		this.chosen = new Map(); // pointer of a union → number of its variant
		this.asJson = false;
		this.changed = changed;
	}

	/** Show a schema, which may be another than before; the draft stays. */
	show(schema) {
		this.schema = schema;
		this.root = resolve(schema, schema);
		this.draft ??= initial({ type: "object", properties: {}, ...this.root }, schema) ?? {};
	}

	/** Start again, from arguments or from nothing. */
	reset(value) {
		this.draft = value === undefined ? undefined : plain(value);
		this.errors.clear();
		this.chosen.clear();
		if (value === undefined || !shows("object", value)) this.asJson = value !== undefined;
		this.show(this.schema);
		this.changed();
	}

	/** Take a draft that was kept as JSON. */
	revive(kept) {
		this.draft = revived(kept.draft);
		this.asJson = Boolean(kept.asJson);
	}
	toJSON() {
		return { draft: this.draft, asJson: this.asJson };
	}

	/** The arguments; undefined if a text in them isn't JSON, which its field then says. */
	get value() {
		this.errors.clear();
		this.#check(this.draft, "");
		return this.errors.size ? undefined : plain(this.draft);
	}
	#check(value, pointer) {
		if (value instanceof Raw) {
			if (value.problem) this.errors.set(pointer, [value.problem]);
		} else if (typeof value === "object" && value !== null) {
			for (const [key, each] of Object.entries(value)) this.#check(each, joined(pointer, key));
		}
	}

	/** Show errors `{pointer, message}` at their fields, or at the nearest that there is. */
	fail(errors) {
		this.errors.clear();
		for (const { pointer, message } of errors) this.#add(pointer, message);
		this.changed();
	}
	#add(pointer, message) {
		this.errors.set(pointer, [...(this.errors.get(pointer) ?? []), message]);
	}

	set(pointer, value) {
		const keys = keysOf(pointer);
		const last = keys.pop();
		if (last === undefined) this.draft = value;
		else {
			let target = this.draft;
			for (const key of keys) {
				if (member(target, key) === undefined) put(target, key, {});
				target = target[key];
			}
			if (Array.isArray(target)) target[last] = value ?? "";
			else put(target, last, value);
		}
		this.#forget(pointer);
		this.changed();
	}
	#forget(pointer) {
		for (const each of [...this.errors.keys()])
			if (each === pointer || each.startsWith(`${pointer}/`)) this.errors.delete(each);
	}
	#idOf = (pointer) => this.id + pointer.replace(/\s/g, "_");

	/** Move the focus to a field, after it's rendered. */
	focus(pointer) {
		queueMicrotask(() => {
			const found = document.getElementById(this.#idOf(pointer));
			const field = found?.querySelector("input, select, textarea") ?? found?.querySelector(".add");
			(found?.matches("input, select, textarea, button") ? found : field)?.focus();
		});
	}

	/** The form's fields, without buttons that send it. */
	render() {
		this.shown = new Set();
		const fields = this.asJson || !shows("object", this.draft)
			? this.#json({ pointer: "", value: this.draft, name: "Arguments" }, {})
			: this.#members("", this.root, this.draft);
		// what no field has shown, such as an argument that isn't a parameter
		const others = [...this.errors].filter(([pointer]) => !this.shown.has(pointer));
		const left = others.filter(([pointer]) => !this.#moveUp(pointer));
		return html`<div class="fields" id=${this.id}>
			${left.map(([pointer, messages]) => html`<p class="error" role="alert" tabindex="-1" aria-invalid="true">
				<code>${pointer || "arguments"}</code> ${messages.join("; ")}</p>`)}
			${fields}
		</div>`;
	}
	#moveUp(pointer) {
		for (let at = pointer; at; at = at.slice(0, at.lastIndexOf("/"))) {
			if (!this.shown.has(at)) continue;
			const rest = pointer.slice(at.length);
			for (const message of this.errors.get(pointer)) this.#add(at, rest ? `${rest} ${message}` : message);
			this.errors.delete(pointer);
			queueMicrotask(this.changed);
			return true;
		}
		return false;
	}

	#members(pointer, schema, value) {
		const { properties = {}, required = [] } = schema;
		const known = Object.entries(properties).filter(([, each]) => each !== false);
		const values = valuesOf(schema);
		const extras = Object.keys(value ?? {}).filter((key) => member(properties, key) === undefined);
		return html`
			${known.map(([name, each]) => this.#field({
				pointer: joined(pointer, name), name, given: each, value: member(value, name),
				isRequired: Array.isArray(required) && required.includes(name),
			}))}
			${extras.map((name) => this.#field({
				pointer: joined(pointer, name), name, given: values ?? {}, value: member(value, name),
				rename: (key) => this.#rename(pointer, name, key),
			}))}
			${known.length || values || extras.length ? nothing : html`<p class="quiet">No arguments.</p>`}
			${values ? html`<button type="button" class="add" @click=${() => this.#addKey(pointer, value, values)}>Add entry</button>` : nothing}`;
	}
	#rename(pointer, from, to) {
		const target = keysOf(pointer).reduce(member, this.draft);
		const isFree = member(target, to) === undefined;
		const entries = Object.entries(target);
		for (const [key] of entries) delete target[key];
		for (const [key, each] of entries) put(target, key === from && isFree ? to : key, each);
		this.#forget(pointer);
		if (!isFree) this.#add(joined(pointer, from), `${to} is already there`);
		this.changed();
	}
	#addKey(pointer, value, values) {
		let number = 1;
		while (member(value, `key${number}`) !== undefined) number++;
		const at = joined(pointer, `key${number}`);
		this.set(at, initial(resolve(values, this.schema), this.schema) ?? "");
		this.focus(at);
	}

	#field(field) {
		const schema = resolve(field.given, this.schema);
		field.id = this.#idOf(field.pointer);
		return this.#shown(field, schema);
	}
	#shown(field, schema) {
		const kind = kindOf(schema);
		const { value, pointer } = field;
		this.shown.add(pointer);
		if (value === null && kind !== "null" && !(kind === "const" && schema.const === null))
			return this.#row(field, schema, html`<input id=${field.id} value="null" disabled aria-describedby=${`${field.id}:about`}>`);
		if (kind === "union") return this.#union(field, schema);
		if (!shows(kind, value)) return this.#json(field, schema);
		if (kind === "object") return this.#object(field, schema);
		if (kind === "array") return this.#array(field, schema);
		if (kind === "json") return this.#json(field, schema);
		const control = { enum: this.#select, boolean: this.#select, const: this.#select, null: this.#select,
			number: this.#number, integer: this.#number, string: this.#text }[kind];
		return this.#row(field, schema, control.call(this, field, schema));
	}

	// one line of a label, its control, and what there is to say
	#row(field, schema, control) {
		return html`<div class="field">
			${this.#head(field, schema, true)}
			${control}
			${this.#about(field, schema)}
		</div>`;
	}
	#head(field, schema, isControl) {
		const { id, name, isRequired, value, rename, item, pointer } = field;
		const isSet = value !== undefined;
		const drop = item ? item.drop : isSet && (!isRequired || rename) && (() => this.set(pointer, undefined));
		const label = html`${name}${isRequired ? html`<span class="required" title="required">*</span>` : nothing}`;
		const setNull = () => {
			this.set(pointer, value === null ? initial(schema, this.schema) : null);
			if (value === null) this.focus(pointer);
		};
		return html`<div class="label">
			${rename
				? html`<input class="key" aria-label=${`Key of entry ${name}`} .value=${name} @change=${({ target }) => { const key = target.value; target.value = name; rename(key); }}>
					${isControl ? html`<label class="hidden" for=${id}>${name}</label>` : nothing}`
				: isControl ? html`<label for=${id}>${label}</label>` : html`<span class="name">${label}</span>`}
			<span class="hint">${hintOf(schema)}</span>
			<span class="tools">
				${schema.nullable ? html`<button type="button" class="small" aria-pressed=${value === null} aria-label=${`${name}: null`} @click=${setNull}>null</button>` : nothing}
				${item ? html`<button type="button" class="icon" ?disabled=${!item.up} aria-label=${`Move ${name} up`} title="Move up" @click=${item.up}>↑</button>` : nothing}
				${drop ? html`<button type="button" class="icon" aria-label=${`Remove ${name}`} title=${item || rename ? "Remove" : "Leave out"} @click=${drop}>×</button>` : nothing}
			</span>
		</div>`;
	}
	#about(field, schema) {
		const errors = this.errors.get(field.pointer);
		const about = field.isAbout === false ? undefined : schema.description;
		return html`<div id=${`${field.id}:about`}>
			${errors ? html`<p class="error" role="alert">${errors.join("; ")}</p>` : nothing}
			${about ? html`<p class="about">${about}</p>` : nothing}
		</div>`;
	}
	#invalid = (field) => (this.errors.has(field.pointer) ? "true" : "false");

	#text(field, schema) {
		const value = field.value ?? "";
		const isDate = schema.format === "date" && (value === "" || /^\d{4}-\d\d-\d\d$/.test(value));
		const isArea = !schema.format && !schema.pattern && !(schema.maxLength <= LONG) && !schema.writeOnly;
		const edit = ({ target }) =>
			this.set(field.pointer, target.value === "" && isDate ? undefined : target.value);
		if (isArea) return this.#area(field, schema, { value, edit, rows: 1, name: "text", keydown: sendOnEnter });
		const type = isDate ? "date" : schema.writeOnly || schema.format === "password" ? "password" : "text";
		return this.#input(field, schema, { value, edit, type });
	}
	#number(field, schema) {
		const { value } = field;
		const edit = ({ target: { value: text } }) =>
			this.set(field.pointer, text === "" ? undefined : new Raw(text, true));
		return this.#input(field, schema, { value: String(value?.text ?? value?.rawJSON ?? value ?? ""), edit, mode: "decimal" });
	}
	#input(field, schema, { value, edit, type = "text", mode = "text" }) {
		return html`<input id=${field.id} type=${type} inputmode=${mode} autocomplete="off" spellcheck="false" placeholder=${placeholder(schema)}
			aria-describedby=${`${field.id}:about`} aria-invalid=${this.#invalid(field)} .value=${value} @input=${edit}>`;
	}
	#area(field, schema, { value, edit, rows, name, keydown }) {
		const lines = Math.min(24, Math.max(rows, value.split("\n").length));
		return html`<textarea id=${field.id} class=${name} rows=${lines} spellcheck="false" placeholder=${placeholder(schema)}
			aria-describedby=${`${field.id}:about`} aria-invalid=${this.#invalid(field)} .value=${value} @input=${edit} @keydown=${keydown}></textarea>`;
	}
	#select(field, schema) {
		const choices = schema.enum ?? ("const" in schema ? [schema.const] : schema.type === "null" ? [null] : [true, false]);
		const at = choices.findIndex((each) => same(each, field.value));
		const isOther = at < 0 && field.value !== undefined && field.value !== "";
		const none = schema.default !== undefined ? `default: ${brief(schema.default)}` : field.isRequired || field.item ? "choose…" : "not set";
		const edit = ({ target }) => this.set(field.pointer, target.value === "" ? undefined : choices[target.value]);
		return html`<select id=${field.id} aria-describedby=${`${field.id}:about`} aria-invalid=${this.#invalid(field)} @change=${edit}>
			<option value="" .selected=${at < 0 && !isOther}>${none}</option>
			${isOther ? html`<option disabled .selected=${true}>${brief(field.value)}</option>` : nothing}
			${choices.map((each, i) => html`<option value=${i} .selected=${i === at}>${schema.enumNames?.[i] ?? brief(each)}</option>`)}
		</select>`;
	}
	#json(field, schema) {
		const { value } = field;
		field.id ??= this.#idOf(field.pointer);
		this.shown.add(field.pointer);
		const shown = value === undefined ? "" : value instanceof Raw ? value.text : JSON.stringify(plainOrText(value), null, 2);
		const edit = ({ target: { value: text } }) =>
			this.set(field.pointer, text.trim() === "" && field.pointer ? undefined : new Raw(text, false));
		const control = this.#area(field, schema, { value: shown, edit, rows: field.pointer ? 2 : 8, name: "json" });
		return this.#row(field, schema, control);
	}

	#object(field, schema) {
		if (field.value === undefined) return this.#absent(field, schema);
		return html`<div class="group" role="group" id=${field.id} aria-label=${field.name}>
			<div>${this.#head(field, schema, false)}${this.#about(field, schema)}</div>
			${this.#members(field.pointer, schema, field.value)}
		</div>`;
	}
	#absent(field, schema) {
		const add = () => {
			this.set(field.pointer, initial(schema, this.schema) ?? {});
			this.focus(field.pointer);
		};
		return html`<div class="field">
			${this.#head(field, schema, false)}
			<button type="button" class="add" id=${field.id} aria-invalid=${this.#invalid(field)} @click=${add}>Add ${field.name}</button>
			${this.#about(field, schema)}
		</div>`;
	}

	#array(field, schema) {
		const items = field.value ?? [];
		const one = singular(field.name);
		const inner = resolve(schema.items, this.schema);
		const move = (from, to) => {
			items.splice(to, 0, ...items.splice(from, 1));
			this.#forget(field.pointer);
			this.changed();
		};
		const add = () => {
			const at = joined(field.pointer, items.length);
			if (!field.value) this.set(field.pointer, []);
			this.set(at, initial(inner, this.schema) ?? "");
			this.focus(at);
		};
		const drop = (i) => {
			items.splice(i, 1);
			this.#forget(field.pointer);
			this.changed();
			this.focus(items.length ? joined(field.pointer, Math.min(i, items.length - 1)) : `${field.pointer}:add`);
		};
		return html`<div class="list" role="group" aria-label=${field.name} id=${field.id}>
			<div>${this.#head(field, schema, false)}${this.#about(field, schema)}</div>
			${items.map((value, i) => this.#field({
				pointer: joined(field.pointer, i), name: `${one} ${i + 1}`, given: schema.items, value,
				isAbout: i === 0,
				item: { up: i > 0 && (() => { move(i, i - 1); this.focus(joined(field.pointer, i - 1)); }), drop: () => drop(i) },
			}))}
			<button type="button" class="add" id=${`${field.id}:add`} aria-invalid=${this.#invalid(field)} @click=${add}>Add ${one}</button>
		</div>`;
	}

	#union(field, schema) {
		const { pointer, value } = field;
		const at = this.chosen.get(pointer) ?? variantOf(schema.variants, value, this.schema);
		const isOpen = value !== undefined || this.chosen.has(pointer) || field.isRequired;
		const choose = ({ target }) => {
			const number = target.value === "" ? undefined : Number(target.value);
			if (number === undefined) this.chosen.delete(pointer);
			this.set(pointer, number === undefined ? undefined : initial(schema.variants[number], this.schema));
			if (number !== undefined) this.chosen.set(pointer, number);
			this.changed();
		};
		const variant = { ...schema.variants[at], nullable: schema.nullable };
		const id = `${field.id}:kind`;
		const picker = html`<select id=${id} aria-label=${`Kind of ${field.name}`} @change=${choose}>
			${field.isRequired || field.item ? nothing : html`<option value="" .selected=${!isOpen}>${schema.default === undefined ? "not set" : `default: ${brief(schema.default)}`}</option>`}
			${schema.variants.map((each, i) => html`<option value=${i} .selected=${isOpen && i === at}>${variantName(each, this.schema)}</option>`)}
		</select>`;
		const body = isOpen && !["const", "null"].includes(kindOf(variant)) ? this.#variant(field, variant) : nothing;
		return html`<div class="group" role="group" id=${field.id} aria-label=${field.name}>
			${this.#head(field, { ...schema, hint: "one of" }, false)}
			<div class="field">${picker}${this.#about({ ...field, id }, schema)}</div>
			${body}
		</div>`;
	}
	#variant(field, schema) {
		if (kindOf(schema) === "object" && shows("object", field.value))
			return this.#members(field.pointer, schema, field.value);
		const inner = { ...field, id: `${field.id}:value`, name: schema.title ?? schema.type ?? "value",
			item: undefined, rename: undefined, isRequired: true };
		return this.#shown(inner, { ...schema, nullable: false });
	}
}

/** Send the form of a text area on Enter; Shift-Enter begins a new line. */
export function sendOnEnter(event) {
	if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
	event.preventDefault();
	event.target.form?.requestSubmit();
}

const brief = (value) => {
	const text = typeof value === "string" ? value || "empty" : JSON.stringify(value);
	return text.length > 60 ? `${text.slice(0, 59)}…` : text;
};
const placeholder = (schema) => {
	if (schema.default !== undefined) return `default: ${brief(schema.default)}`;
	const [example] = Array.isArray(schema.examples) ? schema.examples : [];
	return example === undefined ? "" : `such as ${brief(example)}`;
};
const plainOrText = (value) => {
	try {
		return plain(value);
	} catch {
		return value;
	}
};

function hintOf(schema) {
	const kind = kindOf(schema);
	const type = { json: "JSON", const: "constant", enum: schema.type ?? "choice", union: "one of" }[kind] ?? kind;
	const { minimum: min, maximum: max, exclusiveMinimum: over, exclusiveMaximum: under } = schema;
	const range = min !== undefined && max !== undefined
		? `${min} to ${max}`
		: [min !== undefined && `≥ ${min}`, max !== undefined && `≤ ${max}`, over !== undefined && `> ${over}`, under !== undefined && `< ${under}`].filter(Boolean).join(", ");
	const most = schema.maxLength !== undefined && schema.maxLength <= LONG && `at most ${schema.maxLength} characters`;
	return [schema.hint ?? type, schema.format, range, most].filter(Boolean).join(", ");
}

function variantName(schema, root) {
	if (schema.title) return schema.title;
	for (const [name, each] of Object.entries(schema.properties ?? {})) {
		const found = resolve(each, root);
		if ("const" in found) return `${name}: ${brief(found.const)}`;
	}
	return "const" in schema ? brief(schema.const) : schema.description?.slice(0, 40) ?? hintOf(schema);
}

const singular = (name) => (/[^sui]s$/.test(name) && !/(ies|ses)$/.test(name) ? name.slice(0, -1) : `${name} item`);
