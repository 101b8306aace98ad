package io.kvorum.api;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

import io.kvorum.kv.Version;
import io.kvorum.operation.Condition.Tags;
import io.kvorum.testing.Generator;
import io.kvorum.testing.SeededTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/** Which values a list of entity-tags names, and what is no such list. */
class EntityTagsTests {

	private static final String HEADER = "If-Match";

	private static final Version A = new Version(0x01a1_fcc7_d1e5_0000L, 0xe3f1_a867_a196_2ee5L);

	private static final Version B = new Version(0xffff_ffff_ffff_ffffL, 0x8000_0000_0000_0001L);

	private static final String DIGITS_A = "01a1fcc7d1e50000e3f1a867a1962ee5";

	private static final String TAG_A = '"' + DIGITS_A + '"';

	private static final String TAG_B = "\"ffffffffffffffff8000000000000001\"";

	private static Tags strong(String... lines) {
		return EntityTags.strong(HEADER, List.of(lines));
	}

	private static Tags weak(String... lines) {
		return EntityTags.weak(HEADER, List.of(lines));
	}

	private static Tags tags(Version... versions) {
		return new Tags(false, Set.of(versions));
	}

	@Test
	void aTagIsTheIdentityAs32DigitsInQuotes() {
		assertThat(EntityTags.format(A)).isEqualTo(TAG_A);
		assertThat(EntityTags.format(B)).isEqualTo(TAG_B);
		assertThat(EntityTags.format(new Version(0, 1))).isEqualTo("\"00000000000000000000000000000001\"");
	}

	static Stream<Arguments> lists() {
		return Stream.of(arguments(List.of(TAG_A), tags(A)), arguments(List.of("  " + TAG_A + " \t"), tags(A)),
				arguments(List.of("\t" + TAG_A), tags(A)), arguments(List.of(TAG_B), tags(B)),
				arguments(List.of(TAG_A + "," + TAG_B), tags(A, B)),
				arguments(List.of(TAG_B + " ,\t" + TAG_A), tags(A, B)), arguments(List.of(TAG_A, TAG_B), tags(A, B)),
				arguments(List.of(TAG_A, TAG_A), tags(A)), arguments(List.of(TAG_A + "," + TAG_B, TAG_A), tags(A, B)),
				arguments(List.of("," + TAG_A + ", ,," + TAG_B + ",\t,"), tags(A, B)),
				arguments(List.of("", TAG_A, " "), tags(A)));
	}

	@ParameterizedTest
	@MethodSource("lists")
	void aListNamesTheValuesOfItsTags(List<String> lines, Tags named) {
		assertThat(EntityTags.strong(HEADER, lines)).isEqualTo(named);
		assertThat(EntityTags.weak(HEADER, lines)).isEqualTo(named);
	}

	@Test
	void aWeakTagMatchesOnlyIfTheComparisonIsWeak() {
		assertThat(strong("W/" + TAG_A)).isEqualTo(tags());
		assertThat(strong("W/" + TAG_A + "," + TAG_B)).isEqualTo(tags(B));
		assertThat(strong("W/" + TAG_A, TAG_A)).isEqualTo(tags(A));
		assertThat(weak("W/" + TAG_A)).isEqualTo(tags(A));
		assertThat(weak("W/" + TAG_A + ", " + TAG_B)).isEqualTo(tags(A, B));
	}

	/** Tags of another server, and those that look nearly like one of this one. */
	@ParameterizedTest
	@ValueSource(strings = { "\"\"", "\"x\"", "W/\"x\"", "\"*\"", "\",\"", "\"a,b\"", "\"W/\"", "\"'!#~\"",
			"\"\u0080\u00ff\"", "\"01A1FCC7D1E50000E3F1A867A1962EE5\"", "\"01a1fcc7d1e50000e3f1a867a1962ee\"",
			"\"01a1fcc7d1e50000e3f1a867a1962ee50\"", "\"01a1fcc7d1e50000e3f1a867a1962eeg\"",
			"\"+1a1fcc7d1e50000e3f1a867a1962ee5\"", "\"01a1fcc7d1e50000/3f1a867a1962ee5\"",
			"\"01a1fcc7d1e50000:3f1a867a1962ee5\"", "\"01a1fcc7d1e50000`3f1a867a1962ee5\"",
			"\"01a1fcc7d1e5000\u0660e3f1a867a1962ee5\"" })
	void aTagThatWasNeverGivenNamesNothing(String tag) {
		assertThat(strong(tag)).isEqualTo(tags());
		assertThat(weak(tag)).isEqualTo(tags());
		assertThat(strong(tag + ',' + TAG_A)).isEqualTo(tags(A));
		assertThat(weak(TAG_B, tag)).isEqualTo(tags(B));
	}

	@ParameterizedTest
	@ValueSource(strings = { "*", " *", "*\t", ",*", "*,," })
	void aStarNamesAnyValue(String star) {
		assertThat(strong(star)).isEqualTo(Tags.ANY);
		assertThat(weak("", star)).isEqualTo(Tags.ANY);
	}

	static Stream<Arguments> malformed() {
		return Stream.of(arguments("", "is empty"), arguments(" \t", "is empty"), arguments(",", "is empty"),
				arguments(", ,", "is empty"), arguments("*,*", "'*' stands alone"),
				arguments("*, " + TAG_A, "'*' stands alone"), arguments(TAG_A + ",*", "'*' stands alone"),
				arguments("\"x\",*", "'*' stands alone"), arguments("* " + TAG_A, "no comma before \"01a1"),
				arguments(TAG_A + "*", "no comma before *"), arguments("**", "no comma before *"),
				arguments(TAG_A + " " + TAG_B, "no comma before \"ffff"),
				arguments(TAG_A + TAG_B, "no comma before \"ffff"), arguments(TAG_A + ";q=1", "no comma before ;q=1"),
				arguments(DIGITS_A, "has " + DIGITS_A + ", which is no entity-tag in quotes"),
				arguments("'" + DIGITS_A + "'", "no entity-tag in quotes"),
				arguments("W", "has W, which is no entity-tag"), arguments("W/", "has W/, which is no entity-tag"),
				arguments("W/x", "has W/x, which is no entity-tag"), arguments("W/*", "no entity-tag"),
				arguments("W/ " + TAG_A, "no entity-tag"), arguments("w/" + TAG_A, "has w/\"01a1"),
				arguments("W\"x\"", "no entity-tag"), arguments(TAG_A + ", x", "has x, which is no entity-tag"),
				arguments("\u00e9", "has \u00e9, which"), arguments("\"", "has \", which has no closing quote"),
				arguments("\"x", "has \"x, which has no closing quote"),
				arguments("W/\"x", "has W/\"x, which has no closing quote"),
				arguments(TAG_A + ",\"x", "has \"x, which has no closing quote"),
				arguments("\"a b\"", "has \"a b\", and an entity-tag has no spaces"),
				arguments("\"a\tb\"", "no spaces or control characters"),
				arguments("\"a\u007fb\"", "no spaces or control characters"),
				arguments("\"a\u0000b\"", "no spaces or control characters"));
	}

	@ParameterizedTest
	@MethodSource("malformed")
	void anythingElseIsRefusedByASentenceThatHasWhatWasReadAndWhatIsRight(String line, String sentence) {
		assertMalformed(sentence, line);
	}

	@Test
	void theLinesOfAHeaderAreReadTogetherAndATagEndsInItsLine() {
		assertMalformed("'*' stands alone", "*", TAG_A);
		assertMalformed("'*' stands alone", "*", "*");
		assertMalformed("is empty", "", " ", ",");
		assertMalformed("no closing quote", "\"a", "b\"");
		assertMalformed("has x, which", TAG_A, "x");
	}

	@Test
	void aLongLineIsNotRepeatedWhole() {
		assertMalformed("has " + "x".repeat(40) + "…, which", "x".repeat(41));
		assertMalformed("has " + "x".repeat(40) + ", which", "x".repeat(40));
	}

	@Test
	void theNumberOfTagsHasALimit() {
		String[] lines = Collections.nCopies(EntityTags.MAX_TAGS, TAG_A).toArray(String[]::new);
		assertThat(strong(lines)).isEqualTo(tags(A));
		assertThat(strong(String.join(",,", lines))).isEqualTo(tags(A));

		String more = "has more than 100 entity-tags, the limit";
		assertMalformed(more, String.join(",", lines) + ",\"x\"");
		assertMalformed(more, String.join(",", lines), "*");
	}

	private static void assertMalformed(String sentence, String... lines) {
		for (boolean strong : new boolean[] { true, false }) {
			assertThatExceptionOfType(ProblemException.class)
				.isThrownBy(() -> assertThat(strong ? strong(lines) : weak(lines)).isNull())
				.extracting(ProblemException::problem)
				.satisfies(problem -> {
					assertThat(problem.status()).isEqualTo(400);
					assertThat(problem.type()).isEqualTo(ProblemType.BAD_CONDITION);
					assertThat(problem.detail()).startsWith("The header If-Match ")
						.contains(sentence)
						.contains("'If-Match: \"<etag>\"'", "'If-Match: *'");
				});
		}
	}

	@SeededTest
	void anyListOfAnyTagsIsReadAsItWasWritten(long seed) {
		Generator random = new Generator(seed);
		for (int i = 0; i < 500; i++) {
			Set<Version> strong = new HashSet<>();
			Set<Version> weak = new HashSet<>();
			List<String> lines = new ArrayList<>();
			StringBuilder line = new StringBuilder(random.oneOf(List.of("", " ", ",")));
			int count = 1 + random.below(8);
			for (int tag = 0; tag < count; tag++) {
				line.append(tag(random, strong, weak)).append(random.oneOf(List.of("", " ", "\t ")));
				if (random.chance(20)) {
					lines.add(line.toString());
					line.setLength(0);
				}
				else {
					line.append(random.oneOf(List.of(",", ", ", ",,", ",\t, ")));
				}
			}
			lines.add(line.toString());

			assertThat(EntityTags.strong(HEADER, lines)).as("%s", lines).isEqualTo(new Tags(false, strong));
			assertThat(EntityTags.weak(HEADER, lines)).as("%s", lines).isEqualTo(new Tags(false, weak));
		}
	}

	private static String tag(Generator random, Set<Version> strong, Set<Version> weak) {
		Version version = random.version();
		return switch (random.below(4)) {
			case 0 -> "\"" + random.anyLong() + ",*W/\"";
			case 1 -> {
				weak.add(version);
				yield "W/" + EntityTags.format(version);
			}
			default -> {
				strong.add(version);
				weak.add(version);
				yield EntityTags.format(version);
			}
		};
	}

}
