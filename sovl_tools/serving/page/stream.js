// One stream of events for all tabs: a browser allows six connections to a server, so one tab
// reads the stream and the others hear it. When that tab closes, the lock goes to another.

import { ApiError, events, pause } from "./api.js";

const NAME = "sovl-tools-dev-events";
const RETRY = 400; // milliseconds

/**
 * Follow what happens at the server after the event `last`, in this tab or through another.
 * `onEvent(event)` gets each event, `onStatus(text)` "live", "reconnecting" or "rejected".
 */
export function follow(last, onEvent, onStatus) {
	const tabs = new BroadcastChannel(NAME);
	let status = "connecting";
	let leads = false;

	const hear = (event) => {
		if (event.id) last = event.id;
		onEvent(event);
	};
	const share = (text) => {
		onStatus(status = text);
		tabs.postMessage({ status });
	};
	const lead = async () => {
		leads = true;
		for (;;) {
			try {
				const options = { headers: { "Last-Event-ID": last }, onOpen: () => share("live") };
				for await (const event of events("/dev/events", options)) {
					hear(event);
					tabs.postMessage({ event });
				}
				share("reconnecting");
			} catch (error) {
				const isRejected = error instanceof ApiError && error.status === 401;
				share(isRejected ? "rejected" : "reconnecting");
			}
			await pause(RETRY);
		}
	};
	tabs.onmessage = ({ data }) => {
		if (data.event) hear(data.event);
		else if (data.status) onStatus(status = data.status);
		else if (data.joined && leads) tabs.postMessage({ status });
	};
	tabs.postMessage({ joined: true });
	navigator.locks.request(NAME, lead);
}
