package io.kvorum.convergence.antientropy;

import java.util.HexFormat;
import java.util.List;

import io.kvorum.kv.Entry.Tombstone;
import io.kvorum.kv.Key;
import io.kvorum.kv.Version;
import io.kvorum.storage.Digests;
import io.kvorum.storage.EntryHeader;
import io.kvorum.storage.Page;
import io.kvorum.testing.Generator;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Bytes that members of different versions exchange about their replicas. */
class MessageBytesTests {

	private static final Key KEY = Generator.key("key");

	private static final Version VERSION = new Version(0x018b_cfe5_6800_0007L, 0xfedc_ba98_7654_3210L);

	private static final String VERSION_HEX = "018bcfe568000007fedcba9876543210";

	private static String hex(byte[] bytes) {
		return HexFormat.of().formatHex(bytes);
	}

	@Test
	void queriesAreTheSameBytesAsEver() {
		assertThat(hex(Messages.askSlices(3).toBytes())).isEqualTo("02" + "00000003");
		assertThat(hex(Messages.askLeaves(3, List.of(5, 6)).toBytes()))
			.isEqualTo("03" + "00000003" + "00000005" + "00000006");
		assertThat(hex(Messages.compare(List.of(new Leaf(9, new long[] { 1 }))).toBytes()))
			.isEqualTo("04" + "00000009" + "00000001" + "0000000000000001");
		assertThat(hex(Messages.fetch(List.of(KEY)).toBytes())).isEqualTo("05" + "0003" + "6b6579");
		assertThat(hex(Messages.fetchWhole(KEY).toBytes())).isEqualTo("06" + "0003" + "6b6579");
	}

	@Test
	void answersAreTheSameBytesAsEver() {
		Page.Builder page = new Page.Builder(Page.Limit.of(1000, 10));
		page.add(KEY, new Tombstone(VERSION, 3));
		Difference difference = new Difference(List.of(new EntryHeader(KEY, VERSION, 3, true)), new int[] { 4 });

		assertThat(hex(Messages.digests(new long[] { 1, -1 }))).isEqualTo("0000000000000001" + "ffffffffffffffff");
		assertThat(hex(Messages.differences(List.of(difference), copies -> copies.orDefault(3))))
			.isEqualTo("00000001" + "0003" + "6b6579" + VERSION_HEX + "03" + "01" + "00000001" + "00000004");
		assertThat(hex(Messages.page(page.build(true)).bytes()))
			.isEqualTo("01" + "000300000017" + "6b6579" + "02" + VERSION_HEX + "e124751f0103");
	}

	@Test
	void theNumberOfAVersionOfAKeyIsTheSameAsEver() {
		assertThat(Digests.itemOf(1, new Version(2, 3))).isEqualTo(0xd62a7f6e291fef64L);
	}

}
