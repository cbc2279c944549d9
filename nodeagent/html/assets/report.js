"use strict";
// Sorting and searching of tables, zoom of the flame graph. Without this script all can be read.
(function () {
	const ROWS = 8; // a table of more can be searched

	function value(row, column) {
		const cell = row.cells[column], data = cell && cell.querySelector("data");
		return data ? Number(data.value) : cell ? cell.textContent : "";
	}

	function compare(a, b) {
		if (typeof a === "number" && typeof b === "number")
			return a - b;
		return typeof a === typeof b ? a.localeCompare(b) : typeof a === "number" ? 1 : -1;
	}

	function sort(table, head, column) {
		const down = head.getAttribute("aria-sort") !== "descending";
		const body = table.tBodies[0], rows = Array.from(body.rows);
		for (const h of table.tHead.rows[0].cells)
			h.removeAttribute("aria-sort");
		head.setAttribute("aria-sort", down ? "descending" : "ascending");
		rows.sort((a, b) => (down ? -1 : 1) * compare(value(a, column), value(b, column)));
		body.append(...rows);
	}

	function makeSortable(table) {
		Array.from(table.tHead.rows[0].cells).forEach((head, column) => {
			const button = document.createElement("button");
			button.type = "button";
			button.append(...head.childNodes);
			button.addEventListener("click", () => sort(table, head, column));
			head.append(button);
		});
	}

	function search(label, apply) {
		const box = document.createElement("label"), input = document.createElement("input");
		box.className = "search";
		input.type = "search";
		input.addEventListener("input", () => apply(input.value.toLowerCase()));
		input.addEventListener("keydown", e => {
			if (e.key === "Escape") {
				input.value = "";
				apply("");
			}
		});
		box.append(label + " ", input);
		return box;
	}

	for (const table of document.querySelectorAll("table")) {
		const body = table.tBodies[0];
		if (!body)
			continue;
		makeSortable(table);
		if (body.rows.length > ROWS)
			table.parentNode.before(search("Search:", text => {
				for (const row of body.rows)
					row.hidden = !row.textContent.toLowerCase().includes(text);
			}));
	}

	const flame = document.getElementById("flame");
	if (!flame)
		return;
	const LETTER = 7.4, ROOM = 64; // pixels: of a letter at most, and the least box with a name
	const width = flame.viewBox.baseVal.width;
	const frames = Array.from(flame.querySelectorAll(".f"));
	const boxes = frames.map(frame => {
		const rect = frame.querySelector("rect"), text = frame.querySelector("text");
		const title = rect.querySelector("title").textContent;
		return { rect, text, title, name: title.slice(0, title.lastIndexOf(": ")),
			x: Number(rect.getAttribute("x")), width: Number(rect.getAttribute("width")) };
	});

	// As svg_ink().
	function ink(fill) {
		const part = shift => Math.pow((parseInt(fill.slice(1), 16) >> shift & 255) / 255, 2.2);
		return 0.2126 * part(16) + 0.7152 * part(8) + 0.0722 * part(0) > 0.179 ? "#000000" : "#ffffff";
	}

	// The title, and what is seen of a name that is cut: who says that must be understood.
	function name(i) {
		const shown = boxes[i].text && !boxes[i].text.style.display ? boxes[i].text.textContent : "";
		frames[i].setAttribute("aria-label",
			boxes[i].title + (shown.endsWith("...") ? ", shown as " + shown : ""));
	}

	function label(box, x, w) {
		const letters = Math.floor((w - 6) / LETTER);
		if (!box.text && w >= ROOM) {
			box.text = document.createElementNS(flame.namespaceURI, "text");
			box.text.setAttribute("y", Number(box.rect.getAttribute("y")) + 13);
			box.text.setAttribute("fill", ink(box.rect.getAttribute("fill")));
			box.rect.after(box.text);
		}
		if (!box.text)
			return;
		box.text.setAttribute("x", x + 3);
		box.text.style.display = w < ROOM ? "none" : "";
		box.text.textContent = box.name.length > letters ? box.name.slice(0, letters - 3) + "..." : box.name;
	}

	// What stands between x and x + w becomes as wide as the picture.
	function zoom(x, w) {
		frames.forEach((frame, i) => {
			const box = boxes[i];
			const all = w === width; // then as it was written, even what is wider than its caller
			const left = all ? box.x : Math.max(0, (box.x - x) * width / w);
			const right = all ? box.x + box.width : Math.min(width, (box.x + box.width - x) * width / w);
			frame.style.display = right > left ? "" : "none";
			if (right <= left)
				return;
			box.rect.setAttribute("x", left);
			box.rect.setAttribute("width", right - left);
			label(box, left, right - left);
			name(i);
		});
	}

	function toFrame(i) {
		zoom(boxes[i].x, Math.max(boxes[i].width, 0.01));
		told.textContent = boxes[i].title;
	}

	// The next one that is shown, or itself.
	function neighbour(i, step) {
		let k = i + step;
		while (frames[k] && frames[k].style.display)
			k += step;
		return frames[k] || frames[i];
	}

	const told = document.createElement("p");
	told.setAttribute("aria-live", "polite");
	told.textContent = "A click or Enter on a box makes it as wide as the picture; Esc shows all.";
	// Below the picture: a press of the button focuses a box, and a longer text must not move it away
	// before the button is released.
	flame.parentNode.after(told);
	flame.parentNode.before(search("Mark call paths:", text => {
		frames.forEach((frame, i) =>
			frame.classList.toggle("found", text !== "" && boxes[i].name.toLowerCase().includes(text)));
	}));
	flame.setAttribute("role", "group");
	frames.forEach((frame, i) => {
		frame.setAttribute("role", "button");
		name(i);
		frame.setAttribute("tabindex", i ? "-1" : "0");
		frame.addEventListener("click", () => toFrame(i));
		frame.addEventListener("focus", () => told.textContent = boxes[i].title);
		frame.addEventListener("keydown", e => {
			const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[e.key];
			if (e.key === "Enter")
				toFrame(i);
			else if (step)
				neighbour(i, step).focus();
			else
				return;
			e.preventDefault();
		});
	});
	document.addEventListener("keydown", e => {
		if (e.key === "Escape")
			zoom(0, width);
	});

	// The time line: a page of its own, made when it is asked for.
	function showTimeline(view, viewer, calls) {
		const frame = document.createElement("iframe");
		frame.title = "Time line";
		view.replaceChildren(frame);
		const inner = frame.contentWindow, page = frame.contentDocument;
		page.documentElement.lang = "en";
		page.title = "Time line";
		const style = page.createElement("style"), script = page.createElement("script");
		style.textContent = viewer.style;
		script.textContent = viewer.script;
		page.head.append(style);
		// It would fetch a file of this name as a script, and takes the text in its place.
		inner.location.hash = "#localProfilePath=-";
		const put = page.head.appendChild;
		page.head.appendChild = element => {
			if (element.tagName !== "SCRIPT")
				return put.call(page.head, element);
			setTimeout(() => {
				const bytes = new TextEncoder().encode(calls);
				let text = "";
				for (let i = 0; i < bytes.length; i += 8192)
					text += String.fromCharCode(...bytes.subarray(i, i + 8192));
				inner.speedscope.loadFileFromBase64("time line", btoa(text));
			});
			return element;
		};
		page.body.append(script);
		frame.focus();
	}

	const view = document.getElementById("timeline-view");
	if (view) {
		const button = document.createElement("button");
		button.type = "button";
		button.textContent = "Show the time line";
		button.addEventListener("click", () => showTimeline(view,
			JSON.parse(document.getElementById("timeline-viewer").textContent),
			document.getElementById("timeline-calls").textContent));
		view.replaceChildren(button);
	}
})();
