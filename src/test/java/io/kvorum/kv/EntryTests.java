package io.kvorum.kv;

import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Entry.Tombstone;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class EntryTests {

	private static final Version VERSION = new Version(5, 1);

	private static final Value VALUE = Value.of(new byte[] { 1 });

	@Test
	void aValueIsVisibleUpToTheInstantAtWhichItExpires() {
		Live live = new Live(VERSION, 1, 1000, "text/plain", VALUE);

		assertThat(live.expires()).isTrue();
		assertThat(live.isVisibleAt(999)).isTrue();
		assertThat(live.isVisibleAt(1000)).isFalse();
		assertThat(live.isVisibleAt(1001)).isFalse();
	}

	@Test
	void aValueWithoutAnEndIsAlwaysVisible() {
		Live live = new Live(VERSION, 1, Live.NEVER, "text/plain", VALUE);

		assertThat(live.expires()).isFalse();
		assertThat(live.isVisibleAt(Long.MAX_VALUE - 1)).isTrue();
	}

	@Test
	void aTombstoneIsNeverVisible() {
		assertThat(new Tombstone(VERSION, 1).isVisibleAt(0)).isFalse();
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, -1, Entry.MAX_COPIES + 1 })
	void copiesAreOneTo255(int copies) {
		assertThatIllegalArgumentException().isThrownBy(() -> new Tombstone(VERSION, copies))
			.withMessage("an entry has 1 to 255 copies, this one asks for %d", copies);
		assertThatIllegalArgumentException()
			.isThrownBy(() -> new Live(VERSION, copies, Live.NEVER, "text/plain", VALUE));
	}

	@Test
	void aContentTypeHasUpTo255Characters() {
		assertThat(new Live(VERSION, 1, Live.NEVER, "a".repeat(255), VALUE).contentType()).hasSize(255);
		assertThatIllegalArgumentException().isThrownBy(() -> new Live(VERSION, 1, Live.NEVER, "a".repeat(256), VALUE))
			.withMessage("a content type has up to 255 characters, this one has 256");
	}

}
