package io.kvorum.api;

import java.nio.charset.StandardCharsets;

import io.kvorum.kv.Key;
import io.kvorum.kv.KeyFolding;
import io.kvorum.kv.KeyRange;
import io.kvorum.operation.RangeQuery;
import io.kvorum.operation.RangeScope;
import io.kvorum.testing.Generator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** What a request for a range asks for. */
class RangeRequestTests {

	private static @Nullable String text(byte @Nullable [] bytes) {
		return (bytes != null) ? new String(bytes, StandardCharsets.UTF_8) : null;
	}

	@ParameterizedTest
	@CsvSource(nullValues = "none",
			value = { "start=a, a, none, none, CLUSTER", "start=a&end=b, a, b, none, CLUSTER",
					"end=b&start=a, a, b, none, CLUSTER", "start=a&end=a, a, a, none, CLUSTER",
					"start=a&end=aa, a, aa, none, CLUSTER", "start=a&limit=1, a, none, 1, CLUSTER",
					"start=a&limit=007, a, none, 7, CLUSTER",
					"start=a&limit=999999999999999999, a, none, 999999999999999999, CLUSTER",
					"start=a&scope=cluster, a, none, none, CLUSTER", "start=a&scope=node, a, none, none, NODE",
					"scope=node&limit=5&end=c&start=b, b, c, 5, NODE", "start=%61%2Fb+c, a/b c, none, none, CLUSTER",
					"start=%C3%A9&end=%F0%9F%98%80, \u00e9, \uD83D\uDE00, none, CLUSTER",
					"start=a&others=ignored, a, none, none, CLUSTER", "start=~, ~, none, none, CLUSTER" })
	void whatIsAskedFor(String query, String start, @Nullable String end, @Nullable Long limit, RangeScope scope) {
		RangeQuery request = RangeRequest.parse(query);

		assertThat(text(request.range().start())).isEqualTo(start);
		assertThat(text(request.range().end())).isEqualTo(end);
		assertThat(request.limit()).isEqualTo((limit != null) ? limit : RangeQuery.NO_LIMIT);
		assertThat(request.scope()).isEqualTo(scope);
	}

	@ParameterizedTest
	@CsvSource(nullValues = "none",
			value = { "prefix=a/, a/, a0, true, none", "prefix=, '', none, true, none",
					"values=false, '', none, false, none", "values=true, '', none, true, none",
					"separator=/, '', none, true, a/", "prefix=a/&separator=/&values=false, a/, a0, false, a/b/",
					"prefix=a&separator=%2F, a, b, true, a/", "prefix=a/&start=a/b, a/b, a0, true, none",
					"prefix=a/&start=a, a/, a0, true, none", "prefix=b&start=a&end=z, b, c, true, none",
					"prefix=b&end=ba, b, ba, true, none", "end=b&values=false, '', b, false, none",
					"prefix=a/&separator=//, a/, a0, true, none", "separator=/&start=a/%00, a0, none, true, a/",
					"separator=/&prefix=a/&start=a/b/%00, a/b0, a0, true, a/b/",
					"separator=//&prefix=a&start=a//%00&end=b, a/0, b, true, none" })
	void whatAListingAsksFor(String query, String start, @Nullable String end, boolean hasValues,
			@Nullable String folderOfKey) {
		RangeQuery request = RangeRequest.parse(query);

		assertThat(text(request.range().start())).isEqualTo(start);
		assertThat(text(request.range().end())).isEqualTo(end);
		assertThat(request.hasValues()).isEqualTo(hasValues);
		KeyFolding folding = request.folding();
		Key folder = (folding != null) ? folding.folderOf(Generator.key("a/b/c")) : null;
		assertThat((folder != null) ? text(folder.bytes()) : null).isEqualTo(folderOfKey);
	}

	@ParameterizedTest
	@CsvSource(nullValues = "none", value = { "none, missing-start", "'', missing-start", "end=a, missing-start",
			"start, missing-start", "start=, missing-start", "start=&end=a, missing-start", "start=b&end=a, bad-end",
			"start=aa&end=a, bad-end", "start=a&end=, bad-end", "start=a&end, bad-end", "start=%C3%A9&end=z, bad-end",
			"start=a&limit=0, bad-limit", "start=a&limit=000, bad-limit", "start=a&limit=-1, bad-limit",
			"start=a&limit=%2B1, bad-limit", "start=a&limit=, bad-limit", "start=a&limit=1.5, bad-limit",
			"start=a&limit=1e3, bad-limit", "start=a&limit=many, bad-limit", "start=a&limit=+1, bad-limit",
			"start=a&limit=1000000000000000000, bad-limit", "start=a&limit=%D9%A1, bad-limit",
			"start=a&scope=, bad-scope", "start=a&scope=Node, bad-scope", "start=a&scope=all, bad-scope",
			"start=a&start=b, repeated-parameter", "start=a&end=b&end=b, repeated-parameter",
			"start=a&limit=1&limit=1, repeated-parameter", "start=%, ill-formed-parameter",
			"start=%4, ill-formed-parameter", "start=%zz, ill-formed-parameter", "start=%FF, ill-formed-parameter",
			"start=%C0%80, ill-formed-parameter", "start=%ED%A0%80, ill-formed-parameter",
			"start=a&end=%C3, ill-formed-parameter", "prefix=a&start=, missing-start",
			"prefix=a&separator=, bad-separator", "separator, bad-separator", "values=, bad-values",
			"values=no, bad-values", "start=a&values=False, bad-values", "prefix=a&prefix=a, repeated-parameter",
			"values=false&values=false, repeated-parameter", "prefix=%FF, ill-formed-parameter",
			"prefix=a&start=b&end=a, bad-end", "values=false&limit=0, bad-limit" })
	void whatCannotBeDoneIsRefusedByItsName(@Nullable String query, String problem) {
		assertThatExceptionOfType(ProblemException.class).isThrownBy(() -> RangeRequest.parse(query))
			.matches(ex -> ex.problem().type().uri().endsWith(":" + problem), problem);
	}

	@Test
	void aBoundMayBeAByteLongerThanTheLongestKeySoThatItCanComeRightBehindIt() {
		String most = "a".repeat(KeyRange.MAX_BOUND_BYTES);
		assertThat(RangeRequest.parse("start=%s&end=%s".formatted(most, most)).range().start())
			.hasSize(KeyRange.MAX_BOUND_BYTES);
	}

	@ParameterizedTest
	@ValueSource(strings = { "start=%s", "start=a&end=%s", "prefix=%s" })
	void aLongerBoundIsRefusedWithItsLengthAndTheLimit(String query) {
		String tooLong = "a".repeat(KeyRange.MAX_BOUND_BYTES + 1);
		assertThatExceptionOfType(ProblemException.class).isThrownBy(() -> RangeRequest.parse(query.formatted(tooLong)))
			.withMessageContainingAll("1026", "1025")
			.matches(ex -> ex.problem().type() == ProblemType.BOUND_TOO_LONG);
	}

}
