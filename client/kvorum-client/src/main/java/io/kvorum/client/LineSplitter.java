package io.kvorum.client;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

/** Cuts what comes in pieces into lines. */
final class LineSplitter {

	private final int maxBytes;

	/** The begin of a line whose end has not come yet. */
	private final ByteArrayOutputStream begun = new ByteArrayOutputStream();

	/**
	 * A splitter.
	 * @param maxBytes of a line
	 */
	LineSplitter(int maxBytes) {
		this.maxBytes = maxBytes;
	}

	/** The lines that end in a piece, without their ends; null if one is too long. */
	@Nullable List<byte[]> add(byte[] piece) {
		List<byte[]> lines = new ArrayList<>();
		int start = 0;
		for (int i = 0; i < piece.length; i++) {
			if (piece[i] == '\n') {
				if (!append(piece, start, i)) {
					return null;
				}
				lines.add(this.begun.toByteArray());
				this.begun.reset();
				start = i + 1;
			}
		}
		return append(piece, start, piece.length) ? lines : null;
	}

	private boolean append(byte[] piece, int from, int to) {
		if (this.begun.size() + to - from > this.maxBytes) {
			return false;
		}
		this.begun.write(piece, from, to - from);
		return true;
	}

}
