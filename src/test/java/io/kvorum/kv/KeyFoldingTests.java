package io.kvorum.kv;

import java.nio.charset.StandardCharsets;

import io.kvorum.testing.Generator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class KeyFoldingTests {

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	@ParameterizedTest
	@CsvSource(nullValues = "none",
			value = { "'', /, a, none", "'', /, a/, a/", "'', /, a/b/c, a/", "'', /, /, /", "a/, /, a/b, none",
					"a/, /, a/b/c/d, a/b/", "a/, /, a//b, a//", "a, /, a/b, a/", "'', //, a/b//c, a/b//",
					"'', //, a/b/, none", "a/, \u00fc, a/x\u00fcy\u00fcz, a/x\u00fc", "'', abc, ab, none",
					"'', aab, aaabc, aaab" })
	void theFolderOfAKeyEndsAtTheFirstSeparatorBehindThePrefix(String prefix, String separator, String key,
			@Nullable String folder) {
		Key found = new KeyFolding(bytes(prefix), bytes(separator)).folderOf(Generator.key(key));

		assertThat((found != null) ? new String(found.bytes(), StandardCharsets.UTF_8) : null).isEqualTo(folder);
	}

	@Test
	void aSeparatorHasToSeparate() {
		assertThatIllegalArgumentException().isThrownBy(() -> new KeyFolding(bytes("a"), new byte[0]));
	}

}
