// What a JSON schema asks a form to show. The server validates; this only has to know the shape.

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const DEEPEST = 12;

/** Return an own member of an object or array: hostile names are names. */
export const member = (value, key) =>
	typeof value === "object" && value !== null && Object.hasOwn(value, key) ? value[key] : undefined;

/** Set a member, whatever its name; undefined removes it. */
export function put(target, key, value) {
	if (value === undefined) delete target[key];
	else {
		const more = { enumerable: true, writable: true, configurable: true };
		Object.defineProperty(target, key, { value, ...more });
	}
}

/** Return a JSON pointer with one more key. */
export const joined = (pointer, key) =>
	`${pointer}/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`;

/** Return the keys of a JSON pointer. */
export const keysOf = (pointer) =>
	pointer.split("/").slice(1).map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));

/**
 * Return a schema as a form needs it: `$ref` and `allOf` are in it, null is `nullable`, other
 * alternatives are an `enum` or `variants`.
 */
export function resolve(schema, root, depth = 0) {
	if (!isObject(schema) || depth > DEEPEST) return {};
	let { $ref, allOf, anyOf, oneOf, ...found } = schema;
	if ($ref !== undefined) {
		const target = typeof $ref === "string" && $ref.startsWith("#")
			? keysOf(decodeURI($ref.slice(1))).reduce(member, root)
			: undefined;
		return isObject(target) ? resolve({ ...target, ...without(schema, "$ref") }, root, depth + 1) : {};
	}
	for (const each of Array.isArray(allOf) ? allOf : [])
		found = merged(resolve(each, root, depth + 1), found);
	const given = anyOf ?? oneOf;
	if (Array.isArray(given)) found = withVariants(found, given.map((each) => resolve(each, root, depth + 1)));
	if (Array.isArray(found.type)) {
		const types = found.type.filter((each) => each !== "null");
		if (types.length < found.type.length) found.nullable = true;
		if (types.length === 1) found.type = types[0];
		else if (types.length === 0) found.type = "null";
		else {
			found.variants ??= types.map((type) => ({ ...found, type, nullable: false, title: type }));
			delete found.type;
		}
	}
	if (found.enum?.length > 1 && found.enum.includes(null)) {
		found.nullable = true;
		found.enum = found.enum.filter((each) => each !== null);
	}
	return found;
}

const without = (value, name) => {
	const { [name]: _, ...rest } = value;
	return rest;
};

function merged(one, other) {
	const found = { ...one, ...other };
	if (one.properties && other.properties)
		found.properties = { ...one.properties, ...other.properties };
	if (one.required && other.required) found.required = [...one.required, ...other.required];
	return found;
}

function withVariants(base, given) {
	const isNull = (each) => each.type === "null" || each.const === null;
	const others = given.filter((each) => !isNull(each));
	const nullable = others.length < given.length || others.some((each) => each.nullable);
	const about = nullable ? { nullable } : {};
	// alternatives that only say which members go together are the server's matter
	if (!others.some((each) => kindOf(each) !== "json")) return { ...base, ...about };
	if (others.length === 1) return { ...others[0], ...base, ...about };
	if (others.every((each) => "const" in each)) {
		const labels = others.map((each) => each.title ?? text(each.const));
		return { ...base, ...about, enum: others.map((each) => each.const), enumNames: labels };
	}
	const more = without(without(base, "title"), "description");
	return { ...base, ...about, variants: others.map((each) => merged(more, each)) };
}

const text = (value) => (typeof value === "string" ? value : JSON.stringify(value));

const isLong = (value) => JSON.isRawJSON?.(value) ?? false; // a number of too many digits

/** Return how a form shows a resolved schema. */
export function kindOf(schema) {
	if ("const" in schema) return "const";
	if (Array.isArray(schema.enum) && schema.enum.length) return "enum";
	if (schema.variants) return "union";
	const type = schema.type ?? (isObject(schema.properties) ? "object" : undefined);
	if (type === "object") return isObject(schema.properties) || valuesOf(schema) ? "object" : "json";
	if (type === "array") return isObject(schema.items) && !schema.prefixItems ? "array" : "json";
	return ["string", "number", "integer", "boolean", "null"].includes(type) ? type : "json";
}

/** Return the schema of an object's other members, if it has one. */
export function valuesOf(schema) {
	const [pattern] = Object.values(schema.patternProperties ?? {});
	const found = schema.additionalProperties ?? pattern;
	return isObject(found) ? found : pattern ?? null;
}

/** Return whether a field of that kind can show a value. */
export function shows(kind, value) {
	if (value === undefined || value === null || kind === "json") return true;
	if (kind === "object") return isObject(value) && !(value instanceof Raw);
	if (kind === "array") return Array.isArray(value);
	if (kind === "string") return typeof value === "string";
	if (kind === "boolean") return typeof value === "boolean" || value === "";
	if (kind === "number" || kind === "integer")
		return ["number", "string"].includes(typeof value) || value.isNumber || isLong(value);
	return true;
}

/** Return the value that a required field starts with; undefined for what the user must give. */
export function initial(schema, root, depth = 0) {
	if ("const" in schema) return schema.const;
	const kind = kindOf(schema);
	if (kind === "array") return [];
	if (kind === "null") return null;
	if (kind === "union") return depth > DEEPEST ? undefined : initial(schema.variants[0], root, depth + 1);
	if (kind !== "object" || depth > DEEPEST) return undefined;
	const found = {};
	for (const name of schema.required ?? []) {
		const inner = member(schema.properties, name);
		if (inner !== undefined) put(found, name, initial(resolve(inner, root), root, depth + 1));
	}
	return found;
}

/** Return the number of the variant that fits a value best. */
export function variantOf(variants, value, root) {
	const scores = variants.map((each) => score(each, value, root));
	return Math.max(0, scores.indexOf(Math.max(...scores)));
}

function score(schema, value, root) {
	if (value === undefined) return 0;
	const kind = kindOf(schema);
	if (kind === "json") return 0;
	if (kind === "const") return same(schema.const, value) ? 3 : -1;
	if (kind === "enum") return schema.enum.some((each) => same(each, value)) ? 3 : -1;
	if (!shows(kind, value) || value === null) return -1;
	if (kind === "integer" || kind === "number") {
		const number = plain(value);
		return typeof number !== "number" ? -1 : kind === "number" || Number.isInteger(number) ? 2 : 0;
	}
	if (kind !== "object") return 2;
	let found = 2;
	for (const [name, inner] of Object.entries(schema.properties ?? {})) {
		const given = member(value, name);
		const resolved = resolve(inner, root);
		if ("const" in resolved && given !== undefined) found += same(resolved.const, given) ? 10 : -10;
		else if (given !== undefined) found += 1;
		else if (schema.required?.includes(name)) found -= 1;
	}
	return found;
}

export const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/** Text that a user types for a number or for JSON: it's kept until it can be read, and after. */
export class Raw {
	constructor(text, isNumber) {
		this.text = text;
		this.isNumber = isNumber;
	}
	toJSON() {
		return { "\0raw": this.text, isNumber: this.isNumber };
	}
	/** What it means; a wrong number is sent as text, so that the server says what is wrong. */
	get value() {
		if (!this.isNumber) return JSON.parse(this.text);
		if (!/^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(this.text)) return this.text;
		const number = Number(this.text);
		const isExact = Number.isFinite(number) && (!Number.isInteger(number) || Number.isSafeInteger(number));
		return isExact || !JSON.rawJSON ? number : JSON.rawJSON(this.text);
	}
	/** Why it can't be sent, null if it can. */
	get problem() {
		try {
			this.value;
			return null;
		} catch (error) {
			return `isn't JSON: ${error.message}`;
		}
	}
}

/** Return a draft as it is sent. */
export function plain(value) {
	if (value instanceof Raw) return value.value;
	if (Array.isArray(value)) return value.map(plain);
	if (!isObject(value) || isLong(value)) return value;
	const found = {};
	for (const [key, each] of Object.entries(value)) put(found, key, plain(each));
	return found;
}

/** Return a kept draft with the texts in it. */
export function revived(value) {
	if (Array.isArray(value)) return value.map(revived);
	if (!isObject(value)) return value;
	if (Object.hasOwn(value, "\0raw")) return new Raw(value["\0raw"], value.isNumber);
	const found = {};
	for (const [key, each] of Object.entries(value)) put(found, key, revived(each));
	return found;
}
