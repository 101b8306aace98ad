package io.kvorum.client;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;

/** Cuts what comes in pieces into lines. */
final class LineSplitter {

	private final int maxBytes;

	/** The begin of a line whose end has not come yet. */
	private final ByteArrayOutputStream begun = new ByteArrayOutputStream();

	/**
	 * A splitter.
	 * @param maxBytes of a line; a longer one is an error
	 */
	LineSplitter(int maxBytes) {
		this.maxBytes = maxBytes;
	}

	/** The lines that end in a piece, without their ends. */
	List<byte[]> add(byte[] piece) {
		List<byte[]> lines = new ArrayList<>();
		int start = 0;
		for (int i = 0; i < piece.length; i++) {
			if (piece[i] == '\n') {
				append(piece, start, i);
				lines.add(this.begun.toByteArray());
				this.begun.reset();
				start = i + 1;
			}
		}
		append(piece, start, piece.length);
		return lines;
	}

	private void append(byte[] piece, int from, int to) {
		if (this.begun.size() + to - from > this.maxBytes) {
			throw new IllegalStateException(
					"an entry of a range is longer than %d bytes: make maxValueSize of this client greater"
						.formatted(this.maxBytes));
		}
		this.begun.write(piece, from, to - from);
	}

}
