package io.kvorum.process;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

import io.kvorum.testing.Answer;
import io.kvorum.testing.Clients;
import io.kvorum.testing.Ledger;
import io.kvorum.testing.LongTest;
import io.kvorum.testing.NodeProcess;
import io.kvorum.testing.Nodes;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

@DisplayName("Damaged files: never a silent loss")
class DamageIT {

	/**
	 * One value is about a quarter of a data block (4 KiB), and all of them many blocks
	 * of the WAL (32 KiB).
	 */
	private static final int EX_IOERR = 74;

	private static final List<String> KEYS = IntStream.range(0, 1_000)
		.mapToObj((i) -> "key %04d".formatted(i))
		.toList();

	/** More than RocksDB lets gather before it compacts them. */
	private static final int MAX_TABLES = 12;

	private static final int WAL_BLOCK = 32_768;

	private static final int WAL_HEADER = 7;

	@RegisterExtension
	final Nodes nodes = new Nodes();

	private final Ledger ledger = new Ledger();

	private final Clients clients = new Clients(this.ledger);

	@Test
	@DisplayName("a bit flipped in the WAL, wherever: refuses, says what is damaged and what to do, and touches nothing; once it is as it was all is there")
	void flippedWal() throws IOException, InterruptedException {
		writeAll().kill9();
		Path wal = this.nodes.files("log").getFirst();
		long size = Files.size(wal);
		for (int percent : List.of(0, 37, 83)) {
			flip(wal, size * percent / 100);
			assertRefuses("damaged");
			assertThat(wal).hasSize(size);
			flip(wal, size * percent / 100);
		}

		this.clients.check(this.nodes.start().client(), KEYS);
	}

	@Test
	@DisplayName("a WAL that ends within a record: starts with everything that was acknowledged")
	void tornWal() throws IOException, InterruptedException {
		writeAll().kill9();
		appendHalfARecord(this.nodes.files("log").getFirst());

		this.clients.check(this.nodes.start().client(), KEYS);
	}

	@Test
	@DisplayName("a damaged data block: 504 for its keys and a metric, never 404 or other bytes; all others are served")
	void damagedBlock() throws IOException, InterruptedException {
		Path table = writeTables();
		flip(table, Files.size(table) / 2);

		NodeProcess node = this.nodes.start();
		assertThat(node.client().metric("kvorum_storage_corruption_total")).isZero();
		List<String> unreadable = KEYS.stream().filter((key) -> !isIntact(node.client().get(key), key)).toList();

		assertThat(unreadable).hasSizeBetween(1, 50);
		assertThat(node.client().head(unreadable.getFirst()).status()).isEqualTo(504);
		assertThat(node.client().metric("kvorum_storage_corruption_total")).isPositive();
		assertThat(node.client().put("another", "value").status()).isEqualTo(201);
		assertThat(node.client().get("another").text()).isEqualTo("value");
		assertThat(node.isAlive()).isTrue();
	}

	@Test
	@LongTest
	@DisplayName("a damaged data block that a compaction meets: the node ends, marks it, and started again it reads and writes")
	void damagedBlockInCompaction() throws IOException, InterruptedException {
		Path damaged = writeTables();
		flip(damaged, Files.size(damaged) / 2);

		int code = 0;
		for (int table = 0; table < MAX_TABLES && code != EX_IOERR; table++) {
			NodeProcess node = this.nodes.launch(this.nodes.spec());
			if (node.becomesReady()) {
				this.ledger.write(node.client(), KEYS.getFirst(), 2 + table);
				this.ledger.write(node.client(), KEYS.getLast(), 2 + table);
			}
			code = node.stop().code();
		}
		assertThat(code).isEqualTo(EX_IOERR);

		NodeProcess node = this.nodes.start();
		assertThat(node.client().metric("kvorum_storage_damaged")).isEqualTo(1);
		assertThat(KEYS.stream().filter((key) -> !isIntact(node.client().get(key), key))).hasSizeBetween(1, 50);
		assertThat(node.client().put("another", "value").status()).isEqualTo(201);
		assertThat(node.client().get("another").text()).isEqualTo("value");
	}

	private boolean isIntact(Answer answer, String key) {
		if (answer.status() == 504) {
			EntityApiIT.assertProblem(answer, 504);
			return false;
		}
		this.ledger.check(key, answer);
		return true;
	}

	@Test
	@DisplayName("a data file that is gone: refuses and names it")
	void missingTable() throws IOException, InterruptedException {
		Path table = writeTables();
		Files.delete(table);

		assertRefuses(table.getFileName().toString());
	}

	@Test
	@DisplayName("a second process on the same directory: refuses, names directory and LOCK; the first goes on")
	void secondProcess() throws InterruptedException {
		NodeProcess first = writeAll();

		assertRefuses("LOCK");
		this.clients.check(first.client(), KEYS);
	}

	private NodeProcess writeAll() throws InterruptedException {
		NodeProcess node = this.nodes.start();
		assertThat(this.clients.write(node.client(), KEYS, 1, (acknowledged) -> {
		})).isEqualTo(KEYS.size());
		return node;
	}

	/** What is in memory is written to a table at the stop; returns the largest. */
	private Path writeTables() throws IOException, InterruptedException {
		writeAll().stop();
		return this.nodes.files("sst").getFirst();
	}

	private void assertRefuses(String what) throws InterruptedException {
		NodeProcess node = this.nodes.launch(this.nodes.spec());
		assertThat(node.awaitExit()).isNotZero();
		assertThat(node.log()).contains(node.spec().data().toString(), what).doesNotContain("Netty started");
	}

	private static void flip(Path file, long position) throws IOException {
		try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
			ByteBuffer one = ByteBuffer.allocate(1);
			channel.read(one, position);
			one.put(0, (byte) (one.get(0) ^ 0x10)).rewind();
			channel.write(one, position);
		}
	}

	/**
	 * The first record again (checksum, length, type, payload), cut within what is left
	 * of the last block.
	 */
	private static void appendHalfARecord(Path wal) throws IOException {
		byte[] bytes = Files.readAllBytes(wal);
		int left = WAL_BLOCK - bytes.length % WAL_BLOCK;
		boolean isTrailer = left < WAL_HEADER;
		int payload = (bytes[4] & 0xff) | (bytes[5] & 0xff) << 8;
		int half = WAL_HEADER + payload / 2;
		byte[] torn = Arrays.copyOf(bytes, isTrailer ? half : Math.min(half, left - 1));
		Files.write(wal, new byte[isTrailer ? left : 0], StandardOpenOption.APPEND);
		Files.write(wal, torn, StandardOpenOption.APPEND);
	}

}
