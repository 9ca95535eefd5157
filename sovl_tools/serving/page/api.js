// Requests to the server that printed the URL, with the token in a header.

const KEY = "sovl-tools-token";
const bus = new BroadcastChannel("sovl-tools-dev-token");

/** A request that the server rejected; `error` is its JSON. */
export class ApiError extends Error {
	constructor(status, error) {
		super(error.message ?? error.detail ?? error.title ?? `the server answered ${status}`);
		this.status = status;
		this.error = error;
	}
}

/** Move the token from the URL into this tab; without one, ask the other tabs of this server. */
export async function findToken() {
	const [, token, rest] = /^#token=([^&]*)&?(.*)$/s.exec(location.hash) ?? [];
	if (token) {
		useToken(decodeURIComponent(token));
		history.replaceState(null, "", `#${rest || "/"}`);
	}
	bus.onmessage = ({ data }) => {
		if (data.wanted && hasToken()) bus.postMessage({ token: sessionStorage[KEY] });
		else if (data.token && !hasToken()) useToken(data.token);
	};
	if (hasToken()) return;
	bus.postMessage({ wanted: true });
	for (let i = 0; i < 10 && !hasToken(); i++) await pause(30);
}

export const hasToken = () => Boolean(sessionStorage[KEY]);
export const useToken = (token) => { sessionStorage[KEY] = token; };
export const dropToken = () => { delete sessionStorage[KEY]; };
export const pause = (ms) => new Promise((done) => setTimeout(done, ms));

async function send(path, { body, headers, ...more } = {}) {
	const response = await fetch(path, {
		...more,
		method: body === undefined ? "GET" : "POST",
		headers: {
			Authorization: `Bearer ${sessionStorage[KEY] ?? ""}`,
			...(body !== undefined && { "Content-Type": "application/json" }),
			...headers,
		},
		body: body === undefined ? undefined : JSON.stringify(body),
	});
	if (response.ok) return response;
	const found = await response.json().catch(() => ({}));
	throw new ApiError(response.status, found.error ?? found);
}

/** Return the JSON that the server answers with, null if it answers with nothing. */
export async function request(path, options) {
	const response = await send(path, options);
	return response.status === 204 ? null : response.json();
}

/** Yield the server-sent events of a response: `{event, data, id}`; `onOpen` hears when it begins. */
export async function* events(path, { onOpen, ...options } = {}) {
	const response = await send(path, options);
	onOpen?.();
	const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
	let left = "";
	try {
		for (;;) {
			const { done, value } = await reader.read();
			if (done) return;
			const blocks = (left + value).split("\n\n");
			left = blocks.pop();
			yield* blocks.map(eventOf).filter((each) => each.data !== undefined);
		}
	} finally {
		reader.cancel().catch(() => {});
	}
}

function eventOf(block) {
	const found = { event: "message", data: undefined, id: undefined };
	for (const line of block.split("\n")) {
		const [, name, value] = /^(event|data|id): ?(.*)$/s.exec(line) ?? [];
		if (name) found[name] = name === "data" ? (found.data ?? "") + value : value;
	}
	if (found.data !== undefined) found.data = JSON.parse(found.data);
	return found;
}

/** Return the path of a tool or procedure, whatever its name has. */
export const pathOf = (kind, name, rest = "") => `/dev/${kind}/${encodeURIComponent(name)}${rest}`;
