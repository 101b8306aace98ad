package io.kvorum.cli;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** A table in plain text. Control characters are replaced: a key may have any. */
final class Table {

	private final List<List<String>> rows = new ArrayList<>();

	Table(String... head) {
		this.rows.add(List.of(head));
	}

	void add(String... row) {
		List<String> cells = new ArrayList<>();
		for (String cell : row) {
			cells.add(printable(cell));
		}
		this.rows.add(cells);
	}

	/** A text as one line that does nothing to a terminal. */
	static String printable(String text) {
		return text.replaceAll("[\\p{Cc}\\p{Cf}\\u2028\\u2029]", "\u00b7");
	}

	void print(PrintWriter out) {
		List<Integer> widths = new ArrayList<>(Collections.nCopies(this.rows.getFirst().size(), 0));
		for (List<String> row : this.rows) {
			for (int i = 0; i < row.size(); i++) {
				widths.set(i, Math.max(widths.get(i), row.get(i).length()));
			}
		}
		for (List<String> row : this.rows) {
			StringBuilder line = new StringBuilder();
			for (int i = 0; i < row.size(); i++) {
				line.append(row.get(i)).repeat(' ', widths.get(i) + 2 - row.get(i).length());
			}
			out.println(line.toString().stripTrailing());
		}
	}

}
