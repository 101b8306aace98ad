package io.kvorum.testing;

import java.util.List;

import io.kvorum.testing.RawHttp.Response;

/**
 * The answer to a range.
 *
 * @param head its status and headers; where the status is not 200 with the body
 * @param entries in the order in which they came
 * @param isWhole whether the answer says that it is all; if not it was broken off
 * @param next where to go on behind the limit, in the lines format; empty where that was
 * not said
 */
public record RangeAnswer(Response head, List<RangeEntry> entries, boolean isWhole, String next) {

	public int status() {
		return this.head.status();
	}

	/** The value of a header; empty where there is none. */
	public String header(String name) {
		return this.head.headers().getOrDefault(name, "");
	}

	/** What it is where the status is not 200. */
	public Answer problem() {
		return RawRequest.answer(this.head);
	}

	public List<String> keys() {
		return this.entries.stream().map(RangeEntry::key).toList();
	}

	@Override
	public String toString() {
		return "%s, %d entries, %s".formatted(this.head, this.entries.size(), this.isWhole ? "whole" : "broken off");
	}

}
