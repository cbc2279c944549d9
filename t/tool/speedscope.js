/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * node speedscope.js RELEASE CHROMIUM FILE: opens FILE in speedscope (its folder with
 * index.html) under a headless Chromium, and prints the names that its table shows.
 */
const fs = require('fs'), http = require('http'), path = require('path');
const puppeteer = require('puppeteer-core');
const [release, chromium, file] = process.argv.slice(2);

const server = http.createServer((request, response) => {
	const name = new URL(request.url, 'http://h').pathname;
	const from = name === '/profile' ? file : path.join(release, name === '/' ? 'index.html' : name);
	fs.readFile(from, (error, data) => {
		response.writeHead(error ? 404 : 200, {'Content-Type':
			{'.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css'}[path.extname(from)] || 'application/octet-stream'});
		response.end(data);
	});
});

server.listen(0, '127.0.0.1', async () => {
	const at = `http://127.0.0.1:${server.address().port}`;
	const browser = await puppeteer.launch({executablePath: chromium, headless: 'new',
		args: ['--no-sandbox', '--use-gl=swiftshader', '--enable-unsafe-swiftshader']});
	let status = 0;
	try {
		const page = await browser.newPage();
		await page.setViewport({width: 1400, height: 20000});
		page.on('pageerror', error => { console.error(`page: ${error}`); status = 1; });
		await page.goto(`${at}/#profileURL=${encodeURIComponent(at + '/profile')}&view=sandwich`, {waitUntil: 'domcontentloaded', timeout: 120000});
		await page.waitForSelector('table tr td', {timeout: 120000});
		await new Promise(r => setTimeout(r, 500));
		const names = await page.$$eval('table tr', rows => rows.map(r => r.lastElementChild.textContent.trim()));
		console.log(names.join('\n'));
	} catch (error) {
		console.error(String(error));
		status = 1;
	}
	await browser.close();
	server.close();
	process.exit(status);
});
