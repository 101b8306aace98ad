// Uses the console in a browser as people do. Arguments: the URLs of three nodes, and their process ids, with commas in between; a
// directory for screenshots. Environment: MODULES, where playwright-core and axe-core are, and CHROMIUM.
import assert from "node:assert/strict";
import { createRequire } from "node:module";

const require = createRequire(`${process.env.MODULES}/`);
const { chromium } = require("playwright-core");
const axe = require("axe-core").source;

const [urls, pids, screenshots] = process.argv.slice(2);
const [url] = urls.split(",");
const KEYS = 10_000;
const SCRIPT = "<script>document.title = 'taken over'</script>";
const IMAGE = "<img src=x onerror=\"document.title = 'taken over'\">";

const put = (key, value, type = "text/plain", more = {}) =>
	fetch(`${url}/v0/entity?${new URLSearchParams({ id: key, ...more })}`, { method: "PUT", body: value, headers: { "Content-Type": type } });

async function load() {
	for (let at = 0; at < KEYS; at += 100) {
		await Promise.all(Array.from({ length: 100 }, (_, i) => put(`many/${String(at + i).padStart(5, "0")}`, `value ${at + i}`)));
	}
	await put("fruit/apple", '{"colour":"red","weight":123456789012345678901234567890}', "application/json");
	await put("fruit/pear/williams", "green");
	await put(`script/${IMAGE}`, SCRIPT, "text/html");
	await put("binary", new Uint8Array([0, 255, 10]), "application/octet-stream");
}

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox", "--disable-gpu", "--disable-quic",
	"--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"] });

async function page(options = {}) {
	const made = await browser.newPage({ viewport: { width: 1200, height: 860 }, ...options });
	// The machine may be busy with other checks.
	made.setDefaultTimeout(120_000);
	made.failures = [];
	made.on("pageerror", failure => made.failures.push(String(failure)));
	made.on("console", message => {
		// The browser reports each answer of 4xx itself.
		if (message.type() === "error" && !/Failed to load resource/.test(message.text())) {
			made.failures.push(message.text());
		}
	});
	await made.goto(`${url}/console`);
	return made;
}

async function isAccessible(made, what) {
	// By the protocol of the browser, since the policy of the page forbids scripts of others.
	await made.evaluate(axe);
	const found = await made.evaluate(() => globalThis.axe.run());
	const serious = found.violations.filter(it => ["serious", "critical"].includes(it.impact));
	assert.deepEqual(serious.map(it => `${it.id}: ${it.nodes.map(node => node.html).join(" ")}`), [], what);
}

async function fitsIn(made, what) {
	const { content, window } = await made.evaluate(() => ({ content: document.documentElement.scrollWidth, window: innerWidth }));
	assert.ok(content <= window, `${what}: ${content} px wide in ${window}`);
}

const tests = {

	async "folders, and ten thousand keys by pages"(made) {
		await made.getByRole("button", { name: "many/", exact: true }).click();
		await made.locator("#entries li").nth(199).waitFor();
		assert.equal(await made.locator("#entries li").count(), 200);
		for (let pages = 1; await made.locator("#more").isVisible(); pages++) {
			await made.locator("#more").click();
			await made.locator("#entries li").nth(pages * 200).waitFor();
		}
		assert.equal(await made.locator("#entries li").count(), KEYS);
		assert.equal(await made.locator("#entries li").last().locator("span").textContent(), "09999");
		await made.locator("#prefix").fill("many/0999");
		await made.getByRole("button", { name: "Show" }).click();
		await made.waitForFunction(() => document.querySelectorAll("#entries li").length === 10);
	},

	async "a value in JSON keeps its numbers, and is edited"(made) {
		await made.goto(`${url}/console#/keys/fruit%2F`);
		await made.getByRole("button", { name: "apple" }).click();
		await made.waitForFunction(() => document.getElementById("content").value.includes("\n"));
		const content = made.getByRole("textbox", { name: "Value" });
		assert.equal(await content.inputValue(), '{\n  "colour": "red",\n  "weight": 123456789012345678901234567890\n}');
		await made.screenshot({ path: `${screenshots}/console-keys.png` });
		await content.fill('{"colour": "green"}');
		await made.getByRole("button", { name: "Save" }).click();
		await made.getByText("Saved.").waitFor();
		const stored = await fetch(`${url}/v0/entity?id=fruit/apple`);
		assert.equal(await stored.text(), '{"colour": "green"}');
		assert.equal(stored.headers.get("content-type"), "application/json");
		await content.fill("{no JSON");
		await made.getByRole("button", { name: "Save" }).click();
		await made.locator("#problem").getByText("This is no JSON").waitFor();
	},

	async "somebody else has written: nothing is lost on either side"(made) {
		await put("shared", "first");
		await made.goto(`${url}/console#/keys/shared`);
		await made.getByRole("button", { name: "shared" }).click();
		const content = made.getByRole("textbox", { name: "Value" });
		await made.waitForFunction(() => document.getElementById("content").value === "first");
		await put("shared", "theirs");
		await content.fill("mine");
		await made.getByRole("button", { name: "Save" }).click();
		await made.locator("#conflict").getByText("another one by now").waitFor();
		assert.equal(await (await fetch(`${url}/v0/entity?id=shared`)).text(), "theirs");
		assert.equal(await content.inputValue(), "mine");
		await made.getByRole("button", { name: "Overwrite it" }).click();
		await made.getByText("Saved.").waitFor();
		assert.equal(await (await fetch(`${url}/v0/entity?id=shared`)).text(), "mine");
		await put("shared", "theirs again");
		await content.fill("mine again");
		await made.getByRole("button", { name: "Save" }).click();
		await made.getByRole("button", { name: "Show the other value" }).click();
		await made.waitForFunction(() => document.getElementById("content").value === "theirs again");
		await put("shared", "theirs at last");
		await content.fill("mine at last");
		made.once("dialog", dialog => dialog.accept());
		await made.getByRole("button", { name: "Delete" }).click();
		await made.getByRole("button", { name: "Overwrite it" }).click();
		await made.getByText("Saved.").waitFor();
		assert.equal(await (await fetch(`${url}/v0/entity?id=shared`)).text(), "mine at last");
	},

	async "an answer that comes late replaces no other key, and what is typed is not dropped unasked"(made) {
		await put("late/first", "first");
		await put("late/second", "second");
		let answer;
		const answered = new Promise(resolve => answer = resolve);
		await made.route("**/v0/entity?id=late*first", async route => {
			await answered;
			await route.continue();
		});
		await made.goto(`${url}/console#/keys/late%2F`);
		const late = made.waitForResponse(response => response.url().includes("first"));
		await made.getByRole("button", { name: "first" }).click();
		await made.getByRole("button", { name: "second" }).click();
		const content = made.getByRole("textbox", { name: "Value" });
		await made.waitForFunction(() => document.getElementById("content").value === "second");
		await content.fill("typed");
		answer();
		await (await late).finished();
		made.once("dialog", dialog => dialog.dismiss());
		await made.getByRole("button", { name: "first" }).click();
		assert.equal(await content.inputValue(), "typed");
		await made.getByLabel("Hex").check();
		let asked = false;
		made.once("dialog", dialog => {
			asked = true;
			dialog.dismiss();
		});
		await made.getByRole("button", { name: "first" }).click();
		assert.ok(asked, "in another form it is typed as well");
		await made.getByLabel("Text").check();
		assert.equal(await content.inputValue(), "typed");
		await made.getByRole("button", { name: "Save" }).click();
		await made.getByText("Saved.").waitFor();
		assert.equal(await (await fetch(`${url}/v0/entity?id=late/second`)).text(), "typed");
	},

	async "JSON that is nested ten thousand times is shown"(made) {
		await put("deep", `${"[".repeat(10_000)}1${"]".repeat(10_000)}`, "application/json");
		await made.goto(`${url}/console#/keys/deep`);
		await made.getByRole("button", { name: "deep" }).click();
		await made.waitForFunction(() => document.getElementById("content").value.length > 1_000_000);
		const length = await made.evaluate(() => document.getElementById("content").value.length);
		assert.ok(length < 2_000_000, `${length} characters`);
		assert.equal(await made.locator("#name").textContent(), "deep");
	},

	async "what expires goes on to do so, unless one says never"(made) {
		await put("brief", "first", "text/plain", { ttl: "2h" });
		const expires = (await fetch(`${url}/v0/entity?id=brief`)).headers.get("expires");
		await made.goto(`${url}/console#/keys/brief`);
		await made.getByRole("button", { name: "brief" }).click();
		const content = made.getByRole("textbox", { name: "Value" });
		await made.waitForFunction(() => document.getElementById("content").value === "first");
		await content.fill("second");
		await made.getByRole("button", { name: "Save" }).click();
		await made.getByText("Saved.").waitFor();
		const now = (await fetch(`${url}/v0/entity?id=brief`)).headers.get("expires");
		assert.ok(Math.abs(Date.parse(now) - Date.parse(expires)) <= 5_000, `${now}, not ${expires}`);
		await put("brief", "theirs", "text/plain", { ttl: "2h" });
		await content.fill("mine");
		await made.getByRole("button", { name: "Save" }).click();
		await made.locator("#conflict").getByText("another one by now").waitFor();
		assert.equal(await made.locator("#saved").textContent(), "");
		await made.getByLabel("Expires after").fill("");
		await made.getByRole("button", { name: "Overwrite it" }).click();
		await made.getByText("Saved.").waitFor();
		assert.equal((await fetch(`${url}/v0/entity?id=brief`)).headers.get("expires"), null);
	},

	async "lines end as they did, and where they end in several ways nothing is written"(made) {
		await put("lines", "a\r\nb\r\n");
		await put("mixed", "a\r\nb\n");
		await made.goto(`${url}/console#/keys/lines`);
		await made.getByRole("button", { name: "lines" }).click();
		const content = made.getByRole("textbox", { name: "Value" });
		await made.waitForFunction(() => document.getElementById("content").value === "a\nb\n");
		await content.fill("a\nc\n");
		await made.getByRole("button", { name: "Save" }).click();
		await made.getByText("Saved.").waitFor();
		assert.equal(await (await fetch(`${url}/v0/entity?id=lines`)).text(), "a\r\nc\r\n");
		await made.goto(`${url}/console#/keys/mixed`);
		await made.getByRole("button", { name: "mixed" }).click();
		await made.waitForFunction(() => document.getElementById("content").value === "a\nb\n");
		await content.fill("a\nc\n");
		await made.getByRole("button", { name: "Save" }).click();
		await made.locator("#problem").getByText("newlines of several kinds").waitFor();
		assert.equal(await (await fetch(`${url}/v0/entity?id=mixed`)).text(), "a\r\nb\n");
	},

	async "bytes are edited as hex, a key is made, and deleted"(made) {
		await made.goto(`${url}/console#/keys/bin`);
		await made.getByRole("button", { name: "binary" }).click();
		await made.waitForFunction(() => document.getElementById("content").value === "00 ff 0a");
		await made.getByRole("textbox", { name: "Value" }).fill("00 fe");
		await made.getByRole("button", { name: "Save" }).click();
		await made.getByText("Saved.").waitFor();
		assert.deepEqual(new Uint8Array(await (await fetch(`${url}/v0/entity?id=binary`)).arrayBuffer()), new Uint8Array([0, 254]));
		await made.getByRole("button", { name: "New key" }).click();
		await made.getByRole("textbox", { name: "Key", exact: true }).fill("bin/new one");
		await made.getByRole("textbox", { name: "Value" }).fill("ü");
		await made.getByLabel("Expires after").fill("1h");
		await made.getByRole("button", { name: "Save" }).click();
		await made.getByText("Saved.").waitFor();
		assert.equal(await (await fetch(`${url}/v0/entity?id=bin/new%20one`)).text(), "ü");
		await made.locator("#facts").getByText("Expires").waitFor();
		made.once("dialog", dialog => dialog.accept());
		await made.getByRole("button", { name: "Delete" }).click();
		await made.locator("#entry").waitFor({ state: "hidden" });
		assert.equal((await fetch(`${url}/v0/entity?id=bin/new%20one`)).status, 404);
	},

	async "a script as key and value stays text"(made) {
		await made.goto(`${url}/console#/keys/script%2F`);
		await made.locator("#crumbs").getByText("script/").waitFor();
		await made.locator("#entries button").first().click();
		await made.waitForFunction(text => document.getElementById("content").value === text, SCRIPT);
		assert.equal(await made.locator("#name").textContent(), `script/${IMAGE}`);
		assert.equal(await made.title(), "Kvorum");
		const asPage = await browser.newPage();
		await asPage.goto(`${url}/v0/entity?${new URLSearchParams({ id: `script/${IMAGE}` })}`);
		assert.notEqual(await asPage.title(), "taken over", "a value that is opened as a page runs its scripts");
		await asPage.close();
	},

	async "where a key is"(made) {
		await made.goto(`${url}/console#/keys/fruit%2F`);
		await made.getByRole("button", { name: "apple" }).click();
		await made.locator("#holders tr").nth(3).waitFor();
		assert.match(await made.locator("#holders").textContent(), /(http:\/\/[^ ]+yeslive[0-9a-f]{32}){3}/);
	},

	async "at a gateway, which cannot list keys, a whole key opens"(made) {
		await made.route("**/v0/entities?*", route => route.fulfill({ status: 501, contentType: "application/problem+json",
			body: JSON.stringify({ type: "urn:kvorum:problem:ranges-not-supported", status: 501, detail: "This store has no ranges." }) }));
		await made.goto(`${url}/console#/keys/`);
		await made.reload();
		await made.getByText("This node cannot list keys.").waitFor();
		assert.ok(await made.locator("#problem").isHidden());
		await made.getByRole("textbox", { name: "Key", exact: true }).fill("fruit/apple");
		await made.getByRole("button", { name: "Show", exact: true }).click();
		await made.locator("#facts").getByText("linearizable").waitFor();
		await made.getByRole("textbox", { name: "Key", exact: true }).fill("fruit/none");
		await made.getByRole("button", { name: "Show", exact: true }).click();
		await made.locator("#problem").getByText("(404)").waitFor();
	},

	async "a node that falls silent is seen within five seconds, and when it is back"(made) {
		await made.goto(`${url}/console#/cluster`);
		await made.locator("#summary").getByText("3 nodes, all there").waitFor();
		// Something to see in the charts.
		let isLoaded = true;
		const loading = (async () => {
			for (let i = 0; isLoaded; i++) {
				await Promise.allSettled(Array.from({ length: 4 }, (_, key) => put(`load/${key}`, String(i))));
			}
		})();
		await made.waitForFunction(() => document.querySelector("#charts polyline").getAttribute("points").split(" ").length > 6);
		process.kill(Number(pids.split(",")[1]), "SIGSTOP");
		try {
			await made.locator("#summary").getByText("3 nodes, 1 away").waitFor({ timeout: 5_000 });
			await made.locator("#nodes .bad").waitFor();
			await made.screenshot({ path: `${screenshots}/console-cluster-away.png` });
		}
		finally {
			isLoaded = false;
			process.kill(Number(pids.split(",")[1]), "SIGCONT");
		}
		await made.locator("#summary").getByText("3 nodes, all there").waitFor();
		await loading;
	},

	async "narrow and dark, and for those who do not see it"() {
		for (const colorScheme of ["light", "dark"]) {
			for (const width of [1200, 400]) {
				const made = await page({ colorScheme, viewport: { width, height: 860 } });
				const what = `${colorScheme}, ${width} px`;
				await made.getByRole("button", { name: "fruit/", exact: true }).click();
				await made.getByRole("button", { name: "apple" }).click();
				await made.locator("#holders tr").first().waitFor();
				await fitsIn(made, `keys, ${what}`);
				await isAccessible(made, `keys, ${what}`);
				await made.screenshot({ path: `${screenshots}/keys-${colorScheme}-${width}.png`, fullPage: true });
				await made.goto(`${url}/console#/cluster`);
				await made.locator("#matrix tr").nth(3).waitFor();
				await fitsIn(made, `cluster, ${what}`);
				await isAccessible(made, `cluster, ${what}`);
				await made.screenshot({ path: `${screenshots}/cluster-${colorScheme}-${width}.png`, fullPage: true });
				assert.deepEqual(made.failures, [], what);
				await made.close();
			}
		}
	},

};

await load();
let failed = 0;
for (const [name, test] of Object.entries(tests)) {
	const made = await page();
	try {
		await test(made);
		assert.deepEqual(made.failures, []);
		console.log(`ok      ${name}`);
	}
	catch (failure) {
		failed++;
		await made.screenshot({ path: `${screenshots}/failed-${failed}.png`, fullPage: true }).catch(() => {});
		console.log(`FAILED  ${name}\n${failure.stack}`);
	}
	await made.close();
}
await browser.close();
process.exitCode = failed ? 1 : 0;
