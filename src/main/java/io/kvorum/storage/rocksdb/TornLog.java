package io.kvorum.storage.rocksdb;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import java.util.zip.CRC32C;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The end of a write-ahead log, which RocksDB may take for damage after a power loss, or
 * for an end where it is damaged.
 * <p>
 * The batch that was being synced may be there in part. RocksDB drops a record that is
 * cut off by the end of the file. But a file system may know the new length of a file
 * before it has all of its pages, and the missing ones read as zeros. RocksDB takes that
 * for damage, and does not open the store.
 * <p>
 * Damage is a torn end if it has a sector of zeros, as in etcd's log, and if no record
 * begins behind it. So a flipped bit is none, nor is a hole with acknowledged writes
 * behind it.
 * <p>
 * In the last block of a log, RocksDB looks no further where a record seems to be longer
 * than the file, or has zeros for a head. If batches begin behind that, it is damage.
 * <p>
 * Values are in the log as clients have sent them, so one that was cut off may look like
 * records. What counts as a batch has the next sequence number, or one soon after it.
 *
 * @see <a href=
 * "https://github.com/facebook/rocksdb/wiki/Write-Ahead-Log-File-Format">Format</a>
 */
final class TornLog {

	private static final Logger logger = LoggerFactory.getLogger(TornLog.class);

	/** Records do not cross blocks: longer batches are in several, as fragments. */
	private static final int BLOCK_BYTES = 32 << 10;

	/** The checksum, the length and the type of a record. */
	private static final int HEAD_BYTES = Integer.BYTES + Short.BYTES + 1;

	private static final byte WHOLE = 1;

	private static final byte FIRST = 2;

	private static final byte MIDDLE = 3;

	/** The sequence number and the count of entries, with which a batch begins. */
	private static final int BATCH_HEAD_BYTES = Long.BYTES + Integer.BYTES;

	/**
	 * What is read of a log to find out whether its last block is damaged; more if no
	 * batch begins in there.
	 */
	private static final int TAIL_BYTES = 32 * BLOCK_BYTES;

	private static final int MAX_TAIL_BYTES = 64 * TAIL_BYTES;

	private static final long UNKNOWN = -1;

	/** The least that a disk writes as a whole. */
	private static final int SECTOR_BYTES = 512;

	/**
	 * Stored checksums are rotated and have a constant added (RocksDB's
	 * {@code crc32c::Mask}).
	 */
	private static final int CHECKSUM_ROTATION = 15;

	private static final int CHECKSUM_DELTA = 0xa282ead8;

	/** The log, from a block on. */
	private final ByteBuffer log;

	private final int size;

	/** The sequence number of the last batch that was passed. */
	private long sequence = UNKNOWN;

	private TornLog(ByteBuffer log) {
		this.log = log.order(ByteOrder.LITTLE_ENDIAN);
		this.size = log.limit();
	}

	/**
	 * Cuts off a torn end. Call it when the store cannot be opened since it is damaged.
	 * @return whether there was one
	 */
	static boolean cut(Path directory) {
		try {
			Optional<Path> newest = newest(directory);
			return newest.isPresent() && cutLog(newest.get());
		}
		catch (IOException ex) {
			logger.warn("Could not check whether the end of the log in {} is torn: {}", directory, ex.toString());
			return false;
		}
	}

	/**
	 * Looks for damage that RocksDB takes for the end of a log, before the store is
	 * opened. Where writes are synced one batch after the other, only that leaves whole
	 * batches behind it.
	 * @return what is damaged; null if nothing is
	 */
	static @Nullable String damageAtTheEnd(Path directory) {
		try {
			for (Path log : logs(directory)) {
				long at = hiddenFrom(log);
				if (at >= 0) {
					return "the record at %d of %s cannot be read, and others follow it (which is usual where the machine lost power while the node ran with kvorum.storage.durability=os: then start it once with that)"
						.formatted(at, log);
				}
			}
		}
		catch (IOException ex) {
			logger.warn("Could not check the ends of the logs in {} for damage: {}", directory, ex.toString());
		}
		return null;
	}

	/** Reads: a mapped file would end the process where a sector cannot be read. */
	private static long hiddenFrom(Path log) throws IOException {
		try (FileChannel file = FileChannel.open(log, StandardOpenOption.READ)) {
			long last = (file.size() - 1) / BLOCK_BYTES * BLOCK_BYTES;
			for (int bytes = TAIL_BYTES;; bytes *= 8) {
				long from = Math.max(0, last - bytes);
				TornLog tail = new TornLog(read(file, from));
				int at = tail.hiddenFrom();
				if (at < 0 || tail.sequence != UNKNOWN || from == 0 || bytes >= MAX_TAIL_BYTES) {
					return (at >= 0) ? from + at : -1;
				}
			}
		}
	}

	private static ByteBuffer read(FileChannel file, long from) throws IOException {
		ByteBuffer tail = ByteBuffer.allocate((int) (file.size() - from));
		while (tail.hasRemaining() && file.read(tail, from + tail.position()) >= 0) {
			// A read may bring less than was asked for.
		}
		return tail.flip();
	}

	private static boolean cutLog(Path log) throws IOException {
		try (FileChannel file = FileChannel.open(log, StandardOpenOption.READ, StandardOpenOption.WRITE);
				Arena mapped = Arena.ofConfined()) {
			long size = file.size();
			int end = (size > Integer.MAX_VALUE) ? -1
					: new TornLog(file.map(FileChannel.MapMode.READ_ONLY, 0, size, mapped).asByteBuffer()).tornFrom();
			if (end < 0) {
				return false;
			}
			file.truncate(end);
			file.force(true);
			logger.warn("The machine lost power while the last batch of writes was being synced: of {}, {} bytes from "
					+ "{} on are not completely on disk, and dropped. With kvorum.storage.durability=fsync none of "
					+ "these writes was acknowledged.", log, size - end, end);
			return true;
		}
	}

	private static Optional<Path> newest(Path directory) throws IOException {
		return logs(directory).stream().max(Comparator.comparingLong(TornLog::number));
	}

	private static List<Path> logs(Path directory) throws IOException {
		try (Stream<Path> files = Files.list(directory)) {
			return files.filter(file -> file.getFileName().toString().matches("[0-9]+\\.log"))
				.filter(file -> file.toFile().length() > 0)
				.toList();
		}
	}

	private static long number(Path log) {
		String name = log.getFileName().toString();
		return Long.parseLong(name.substring(0, name.indexOf('.')));
	}

	/** The end of the last whole batch before a torn end; -1 if the log has none. */
	private int tornFrom() {
		int end = 0;
		int at = 0;
		while (at < this.size) {
			int left = BLOCK_BYTES - at % BLOCK_BYTES;
			if (left < HEAD_BYTES) {
				at += left;
			}
			else if (isRecord(at)) {
				byte type = type(at);
				pass(at);
				at += HEAD_BYTES + length(at);
				end = (type == FIRST || type == MIDDLE) ? end : at;
			}
			else {
				return (hasZeroSector(at) && !beginsBehind(at)) ? end : -1;
			}
		}
		return -1;
	}

	/**
	 * Where in the last block RocksDB looks no further although batches begin behind it;
	 * -1 if nowhere.
	 */
	private int hiddenFrom() {
		int last = (this.size - 1) / BLOCK_BYTES * BLOCK_BYTES;
		for (int block = 0; block < last; block += BLOCK_BYTES) {
			passRecords(block, block + BLOCK_BYTES);
		}
		int at = passRecords(last, this.size);
		return (this.size - at >= HEAD_BYTES && beginsBehind(at)) ? at : -1;
	}

	/** Passes whole records of a block; returns where there is none. */
	private int passRecords(int block, int end) {
		int at = block;
		while (end - at >= HEAD_BYTES && isRecord(at)) {
			pass(at);
			at += HEAD_BYTES + length(at);
		}
		return at;
	}

	private void pass(int at) {
		byte type = type(at);
		if ((type == WHOLE || type == FIRST) && length(at) >= BATCH_HEAD_BYTES) {
			this.sequence = this.log.getLong(at + HEAD_BYTES);
		}
	}

	private byte type(int at) {
		return this.log.get(at + HEAD_BYTES - 1);
	}

	private int length(int at) {
		return Short.toUnsignedInt(this.log.getShort(at + Integer.BYTES));
	}

	/** Whether a record with the right checksum is at this place, all of it. */
	private boolean isRecord(int at) {
		int inBlock = BLOCK_BYTES - at % BLOCK_BYTES;
		if (Math.min(inBlock, this.size - at) < HEAD_BYTES
				|| HEAD_BYTES + length(at) > Math.min(inBlock, this.size - at)) {
			return false;
		}
		CRC32C checksum = new CRC32C();
		checksum.update(this.log.slice(at + HEAD_BYTES - 1, 1 + length(at)));
		int masked = Integer.rotateRight((int) checksum.getValue(), CHECKSUM_ROTATION) + CHECKSUM_DELTA;
		return masked == this.log.getInt(at);
	}

	/** Whether a sector is missing from a place on, or what is left of the first one. */
	private boolean hasZeroSector(int from) {
		int sector = (from + SECTOR_BYTES - 1) / SECTOR_BYTES * SECTOR_BYTES;
		if (sector - from >= HEAD_BYTES && isZero(from, Math.min(sector, this.size))) {
			return true;
		}
		for (; sector < this.size; sector += SECTOR_BYTES) {
			if (isZero(sector, Math.min(sector + SECTOR_BYTES, this.size))) {
				return true;
			}
		}
		return false;
	}

	private boolean isZero(int from, int to) {
		for (int i = from; i < to; i++) {
			if (this.log.get(i) != 0) {
				return false;
			}
		}
		return true;
	}

	/** Whether a batch begins behind a place. Nothing tells where the next record is. */
	private boolean beginsBehind(int from) {
		for (int at = from + 1; at <= this.size - HEAD_BYTES; at++) {
			byte type = type(at);
			if ((type == WHOLE || type == FIRST) && isRecord(at) && isNextBatch(at)) {
				return true;
			}
		}
		return false;
	}

	/**
	 * An entry takes more than a byte: so many at most are in between. A first fragment
	 * ends with its block, and may be shorter than what a batch begins with.
	 */
	private boolean isNextBatch(int at) {
		if (length(at) < BATCH_HEAD_BYTES) {
			return type(at) == FIRST && (at + HEAD_BYTES + length(at)) % BLOCK_BYTES == 0;
		}
		long next = this.log.getLong(at + HEAD_BYTES);
		return this.sequence == UNKNOWN || (next > this.sequence && next - this.sequence <= this.size);
	}

}
