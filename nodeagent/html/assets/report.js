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
	const width = flame.viewBox.baseVal.width, height = flame.viewBox.baseVal.height;
	const frames = Array.from(flame.querySelectorAll(".f"));

	function zoom(x, w) {
		flame.setAttribute("viewBox", [x, 0, w, height].join(" "));
		flame.setAttribute("preserveAspectRatio", "none");
		for (const text of flame.querySelectorAll("text"))
			text.style.display = w === width ? "" : "none";
	}

	function toFrame(frame) {
		const rect = frame.querySelector("rect");
		zoom(Number(rect.getAttribute("x")), Math.max(Number(rect.getAttribute("width")), 0.01));
		told.textContent = frame.querySelector("title").textContent;
	}

	const told = document.createElement("p");
	told.setAttribute("aria-live", "polite");
	told.textContent = "A click or Enter on a box makes it as wide as the picture; Esc shows all.";
	flame.parentNode.before(told, search("Mark call paths:", text => {
		for (const frame of frames)
			frame.classList.toggle("found", text !== "" &&
				frame.querySelector("title").textContent.toLowerCase().split(":")[0].includes(text));
	}));
	flame.setAttribute("role", "group");
	frames.forEach((frame, i) => {
		frame.setAttribute("role", "button");
		frame.setAttribute("aria-label", frame.querySelector("title").textContent);
		frame.setAttribute("tabindex", i ? "-1" : "0");
		frame.addEventListener("click", () => toFrame(frame));
		frame.addEventListener("focus", () => told.textContent = frame.querySelector("title").textContent);
		frame.addEventListener("keydown", e => {
			const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[e.key];
			if (e.key === "Enter")
				toFrame(frame);
			else if (step && frames[i + step])
				frames[i + step].focus();
			else
				return;
			e.preventDefault();
		});
	});
	document.addEventListener("keydown", e => {
		if (e.key === "Escape")
			zoom(0, width);
	});
})();
