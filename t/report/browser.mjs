// SPDX-License-Identifier: BSD-3-Clause
// One check of a page in a browser that has no network; ends with 1 and the reason if it fails.
//	node browser.mjs CHECK FILE.html [ARGUMENT]
// PLAYWRIGHT is the folder with node_modules, CHROMIUM the browser.
import { createRequire } from "node:module";
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const require = createRequire(path.join(path.resolve(process.env.PLAYWRIGHT), "node_modules", "x"));
const { chromium } = require("playwright-core");
const [check, file, argument] = process.argv.slice(2);
const NARROW = { viewport: { width: 400, height: 800 } };

// Tables that can be sorted are made by the script when the page is loaded.
async function pageOf(browser, how = {}) {
	const context = await browser.newContext({ offline: true, viewport: { width: 1200, height: 900 }, ...how });
	const page = await context.newPage(), requests = [], errors = [];
	page.setDefaultTimeout(120000); // a busy machine; the test has a limit of its own
	page.on("request", r => requests.push(r.url()));
	page.on("pageerror", e => errors.push(String(e)));
	page.on("console", m => ["error", "warning"].includes(m.type()) && errors.push(m.text()));
	await page.goto(pathToFileURL(path.resolve(file)).href);
	return { page, requests, errors };
}

const boxes = page => page.$$eval("#flame .f", all => all.filter(e => !e.style.display).map(e => {
	const rect = e.querySelector("rect"), text = e.querySelector("text");
	const number = name => Math.round(100 * Number(rect.getAttribute(name))) / 100;
	return [number("x"), number("width"),
		text && !text.style.display ? text.textContent : ""];
}));
const texts = (page, selector) => page.$$eval(selector, all => all.map(e => e.textContent.trim()));
const openAll = page => page.$$eval("details", all => all.forEach(d => { d.open = true; }));
// Which part of the pixels is not as the first one.
const inked = (page, png) => page.evaluate(async base64 => {
	const bytes = Uint8Array.from(atob(base64), c => c.charCodeAt(0));
	const image = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
	const canvas = new OffscreenCanvas(image.width, image.height), c = canvas.getContext("2d");
	c.drawImage(image, 0, 0);
	const data = new Uint32Array(c.getImageData(0, 0, image.width, image.height).data.buffer);
	const back = data[data.length - 1];
	return data.filter(pixel => pixel !== back).length / data.length;
}, png.toString("base64"));

async function zoomed(page) {
	const all = await boxes(page), frames = page.locator("#flame .f"), wide = all[0][1];
	const k = all.findIndex(([x, width]) => width < 0.9 * wide && width > 30);
	assert(k > 0, "no box to zoom to");
	await frames.nth(k).click({ position: { x: 1, y: 1 } });
	const now = await boxes(page), title = await frames.nth(k).locator("title").textContent();
	assert(now.length < all.length || now.every(([x, width]) => x > -1e-6 && x + width < wide + 1e-6));
	assert(Math.abs(Number(await frames.nth(k).locator("rect").getAttribute("width")) - wide) < 1e-6);
	const name = await frames.nth(k).locator("text").textContent();
	assert(title.startsWith(name.replace("...", "")) && name.length > 3, name);
	await page.keyboard.press("Escape");
	assert.deepEqual((await boxes(page)).map(b => b.slice(0, 2)), all.map(b => b.slice(0, 2)));
	await frames.nth(0).focus();
	for (let i = 0; i < k; i++)
		await page.keyboard.press("ArrowRight");
	assert((await page.evaluate(() => document.activeElement.getAttribute("aria-label"))).startsWith(title));
	await page.keyboard.press("Enter");
	assert.notDeepEqual(await boxes(page), all);
	await page.keyboard.press("Escape");
	assert.deepEqual((await boxes(page)).map(b => b.slice(0, 2)), all.map(b => b.slice(0, 2)));
}

const checks = {
	async alone(browser) {
		const { page, requests, errors } = await pageOf(browser);
		await openAll(page);
		assert.deepEqual(errors, []);
		assert.equal(requests.length, 1);
	},
	async links(browser) {
		const { page } = await pageOf(browser);
		const links = await page.$$("nav a");
		assert(links.length > 2);
		for (const link of links) {
			const to = await link.getAttribute("href");
			await link.click();
			await page.waitForFunction(id => {
				const top = document.querySelector(id).getBoundingClientRect().top;
				return location.hash === id && top < innerHeight && top > -1;
			}, to);
		}
		for (const to of await page.$$eval("main a", all => all.map(a => a.getAttribute("href"))))
			assert(await page.$(to), to + " is nowhere");
	},
	async zoom(browser) {
		const { page } = await pageOf(browser);
		await zoomed(page);
	},
	async zoomNarrow(browser) {
		const { page } = await pageOf(browser, NARROW);
		await zoomed(page);
	},
	async mark(browser) {
		const { page } = await pageOf(browser);
		const name = (await texts(page, "#flame .f title"))[1].split(":")[0];
		await page.getByLabel("Mark call paths").fill(name.toUpperCase());
		const found = await texts(page, "#flame .f.found title");
		assert(found.length > 0);
		for (const title of found)
			assert(title.toLowerCase().includes(name.toLowerCase()));
		await page.keyboard.press("Escape");
		assert.equal(await page.locator("#flame .f.found").count(), 0);
	},
	async difference(browser) {
		for (const javaScriptEnabled of [false, true]) {
			const { page } = await pageOf(browser, { javaScriptEnabled });
			const fills = () => page.locator("#flame .f rect").evaluateAll(all => all.map(r => getComputedStyle(r).fill));
			const before = await fills();
			await page.locator("label[for=by-difference]").click();
			const now = await fills();
			assert.notDeepEqual(now, before);
			assert(now.includes("rgb(230, 159, 0)"), "a path that the other run lacks");
			await page.locator("#by-difference").press("Space");
			assert.deepEqual(await fills(), before);
		}
	},
	async sort(browser) {
		const { page } = await pageOf(browser);
		const table = page.locator("#time table", { has: page.locator("caption", { hasText: /^Functions by/ }) });
		const numbers = () => table.locator("tbody tr").evaluateAll(rows =>
			rows.map(r => Number(r.cells[3].querySelector("data").value)));
		const before = await numbers(), falling = [...before].sort((a, b) => b - a);
		assert(before.length > 2);
		await table.locator("thead button").nth(3).click();
		assert.deepEqual(await numbers(), falling);
		assert.equal(await table.locator("th").nth(3).getAttribute("aria-sort"), "descending");
		await page.keyboard.press("Enter");
		assert.deepEqual(await numbers(), falling.reverse());
		await table.locator("thead button").first().click();
		await table.locator("thead button").first().click();
		const names = await table.locator("tbody th").allTextContents();
		assert.deepEqual(names, [...names].sort((a, b) => a.localeCompare(b)));
	},
	// The name of a column of numbers ends where they do.
	async heads(browser) {
		const { page } = await pageOf(browser);
		await openAll(page);
		const wrong = await page.$$eval("thead th.n", all => all.map(th => {
			const button = th.querySelector("button").getBoundingClientRect(), cell = th.getBoundingClientRect();
			return [th.textContent, Math.round(cell.right - parseFloat(getComputedStyle(th).paddingRight) - button.right)];
		}).filter(([, off]) => Math.abs(off) > 1));
		assert.deepEqual(wrong, []);
	},
	async search(browser) {
		const { page } = await pageOf(browser);
		await openAll(page);
		const box = page.locator(".search", { hasText: "Search" }).first().locator("input");
		const table = page.locator(".search + .wide table").first();
		const rows = table.locator("tbody tr"), all = await rows.count();
		const name = await rows.last().locator("th, td").first().textContent();
		await box.fill(name);
		const shown = await rows.evaluateAll(r => r.filter(x => !x.hidden).map(x => x.textContent));
		assert(shown.length > 0 && shown.length < all);
		for (const text of shown)
			assert(text.includes(name));
		await page.keyboard.press("Escape");
		assert.equal(await table.locator("tbody tr:not([hidden])").count(), all);
	},
	async plain(browser) {
		const { page } = await pageOf(browser, { javaScriptEnabled: false });
		const sections = page.locator("main > section");
		assert(await sections.count() > 2);
		for (const section of await sections.all())
			assert((await section.boundingBox()).height > 20);
		assert(await page.locator("#flame rect").count() > 1);
		assert.equal(await page.locator("button, input:not(#by-difference)").count(), 0);
		const summary = page.locator("details > summary").first();
		await summary.click();
		assert(await page.locator("details[open] table").first().isVisible());
	},
	async narrow(browser) {
		const { page } = await pageOf(browser, NARROW);
		await openAll(page);
		const wide = await page.evaluate(() => [...document.querySelectorAll("main *")].filter(e =>
			!e.closest("table, svg") && e.getBoundingClientRect().right > innerWidth + 1).map(e => e.outerHTML.slice(0, 80)));
		assert.deepEqual(wide, []);
		assert(await page.evaluate(() => document.documentElement.scrollWidth) <= 400);
	},
	async print(browser) {
		const { page } = await pageOf(browser);
		const pdf = (await page.pdf({ format: "A4" })).toString("latin1");
		const pages = (pdf.match(/\/Type\s*\/Page\b/g) || []).length;
		const sections = await page.locator("main > section").count();
		assert(pages >= sections, pages + " sheets of paper for " + sections + " pages");
	},
	// argument: "light" or "dark", with "-narrow" behind it or not
	async axe(browser) {
		const [colorScheme, narrow] = argument.split("-");
		const { page } = await pageOf(browser, { colorScheme, reducedMotion: "reduce", ...(narrow ? NARROW : {}) });
		await openAll(page);
		await page.evaluate(fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8"));
		const found = (await page.evaluate(() => axe.run())).violations.map(v =>
			[v.id, v.help, v.nodes.length, v.nodes[0].html.slice(0, 200), v.nodes[0].failureSummary]);
		assert.deepEqual(found, [], argument);
	},
	async drawn(browser) {
		for (const colorScheme of ["light", "dark"])
			for (const how of [{}, NARROW]) {
				const { page } = await pageOf(browser, { colorScheme, ...how });
				const png = await page.screenshot({ fullPage: !!argument });
				if (argument)
					fs.writeFileSync(argument + "-" + colorScheme + (how === NARROW ? "-narrow" : "") + ".png", png);
				else
					assert(await inked(page, png) > 0.02);
			}
	},
	async timeline(browser) {
		const { page, requests, errors } = await pageOf(browser);
		await page.locator("#timeline-view button").click();
		const inner = await (await page.waitForSelector("#timeline-view iframe")).contentFrame();
		await inner.waitForFunction(() => document.body.innerText.includes("thread 0"));
		assert(await inner.locator("canvas").count() > 0);
		assert.equal(requests.length, 1);
		assert.deepEqual(errors.filter(e => !e.includes("GL Driver Message")), []);
		assert.equal(await page.locator("#timeline-view button").count(), 0);
	},
	// argument: the file of the picture
	async picture(browser) {
		const { page } = await pageOf(browser, { viewport: { width: 1060, height: 1310 }, deviceScaleFactor: 0.8 });
		await page.screenshot({ path: argument });
		assert(fs.statSync(argument).size < 100000);
	},
	// argument: the most milliseconds, from the beginning of loading until something can be seen
	async paint(browser) {
		const { page } = await pageOf(browser);
		const ms = await page.evaluate(() => new Promise(done => new PerformanceObserver(list =>
			done(list.getEntriesByName("first-contentful-paint")[0].startTime)).observe({ type: "paint", buffered: true })));
		console.log("first paint after " + Math.round(ms) + " ms");
		assert(ms > 0 && ms < Number(argument));
	},
};

const browser = await chromium.launch({
	executablePath: process.env.CHROMIUM, args: ["--headless=new", "--no-sandbox", "--disable-gpu"],
});
try {
	await checks[check](browser);
} catch (error) {
	console.error(String(error.message || error));
	process.exitCode = 1;
} finally {
	await browser.close();
}
