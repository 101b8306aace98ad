// Values as people read and write them. Pure functions.

const INDENT = "  ";
// Deeper parts are indented as far as this: each line of a value that is nested a thousand times would have a thousand indents.
const MOST_INDENTS = 32;
const HEX_BYTES_IN_LINE = 16;
const SIZES = ["B", "KB", "MB", "GB", "TB"];

// A token of JSON: a string, a number, a word, or one character of structure.
const TOKEN = /\s*("(?:[^"\\\u0000-\u001f]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|[[\]{}:,])/y;

// Indents a text in JSON, or returns null if it is none. The tokens stay as they are: a number may have more digits than
// JavaScript can keep.
export function jsonIndented(text) {
	try {
		JSON.parse(text);
	}
	catch {
		return null;
	}
	const lineAt = depth => `\n${INDENT.repeat(Math.min(depth, MOST_INDENTS))}`;
	const tokens = [];
	TOKEN.lastIndex = 0;
	for (let found = TOKEN.exec(text); found; found = TOKEN.exec(text)) {
		tokens.push(found[1]);
	}
	let indented = "";
	let depth = 0;
	tokens.forEach((token, index) => {
		const next = tokens[index + 1];
		if (token === "{" || token === "[") {
			indented += token;
			if (next !== "}" && next !== "]") {
				depth++;
				indented += lineAt(depth);
			}
		}
		else if (token === "}" || token === "]") {
			const before = tokens[index - 1];
			if (before !== "{" && before !== "[") {
				depth--;
				indented += lineAt(depth);
			}
			indented += token;
		}
		else {
			indented += token === "," ? `,${lineAt(depth)}` : token === ":" ? ": " : token;
		}
	});
	return indented;
}

// The text of bytes in UTF-8, or null if they are none. The end of a text that was cut may be in the middle of a character.
export function textOf(bytes, isCut = false) {
	try {
		return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes, { stream: isCut });
	}
	catch {
		return null;
	}
}

// What was typed, with the newlines of the text before: a text field has line feeds only. Throws where it had several kinds.
export function withNewlinesOf(before, typed) {
	const kinds = new Set(before.match(/\r\n|\r|\n/g));
	if (kinds.size > 1) {
		throw new Error("The value has newlines of several kinds, which this field cannot keep: undo the change, and edit it as hex.");
	}
	const [newline = "\n"] = kinds;
	return typed.replaceAll("\n", newline);
}

export function hexOf(bytes) {
	const lines = [];
	for (let at = 0; at < bytes.length; at += HEX_BYTES_IN_LINE) {
		lines.push(Array.from(bytes.subarray(at, at + HEX_BYTES_IN_LINE), byte => byte.toString(16).padStart(2, "0")).join(" "));
	}
	return lines.join("\n");
}

export function bytesOfHex(text) {
	const digits = text.replace(/\s+/g, "");
	if (digits.length % 2 || /[^0-9a-fA-F]/.test(digits)) {
		throw new Error("Hex has two digits for each byte, 0 to 9 and a to f.");
	}
	return Uint8Array.from(digits.match(/../g) ?? [], pair => parseInt(pair, 16));
}

export function sizeOf(bytes) {
	let size = bytes;
	let unit = 0;
	while (size >= 1024 && unit < SIZES.length - 1) {
		size /= 1024;
		unit++;
	}
	return `${unit ? size.toFixed(1) : size} ${SIZES[unit]}`;
}
