package io.kvorum.backup;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import io.kvorum.clock.TimeSource;
import org.jspecify.annotations.Nullable;

/**
 * Computes the SHA-256 of files, as {@code sha256sum} prints it, at a limited rate. Does
 * not follow links. Used by one thread at a time.
 */
final class Checksums {

	private static final int BUFFER_BYTES = 256 << 10;

	private final TimeSource time;

	private final long bytesPerSecond;

	private final ByteBuffer buffer = ByteBuffer.allocate(BUFFER_BYTES);

	/** The earliest time at which the rate allows the bytes read so far. */
	private long dueNanos;

	Checksums(TimeSource time, long bytesPerSecond) {
		this.time = time;
		this.bytesPerSecond = bytesPerSecond;
		this.dueNanos = time.nanos();
	}

	static String of(byte[] bytes) {
		return HexFormat.of().formatHex(sha256().digest(bytes));
	}

	/**
	 * The checksum of a file.
	 * @param sync whether to sync the file too
	 */
	String of(Path file, boolean sync) throws IOException {
		try (FileChannel in = open(file)) {
			String checksum = read(in, null);
			if (sync) {
				in.force(true);
			}
			return checksum;
		}
	}

	/** Copies a file to a new one, syncs the copy, and returns the checksum. */
	String copy(Path from, Path to) throws IOException {
		try (FileChannel in = open(from);
				FileChannel out = FileChannel.open(to, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
			String checksum = read(in, out);
			out.force(true);
			return checksum;
		}
	}

	private static FileChannel open(Path file) throws IOException {
		return FileChannel.open(file, Set.of(StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS));
	}

	private String read(FileChannel in, @Nullable FileChannel out) throws IOException {
		MessageDigest digest = sha256();
		while (in.read(this.buffer.clear()) >= 0) {
			digest.update(this.buffer.flip());
			pace(this.buffer.rewind().remaining());
			while (out != null && this.buffer.hasRemaining()) {
				out.write(this.buffer);
			}
		}
		return HexFormat.of().formatHex(digest.digest());
	}

	/**
	 * Waits until the rate allows these bytes. Waits of up to 10 ms are left to the next
	 * call. Idle time is not made up for.
	 */
	void pace(long bytes) {
		long now = this.time.nanos();
		double seconds = (double) bytes / this.bytesPerSecond;
		this.dueNanos = Math.max(this.dueNanos, now) + (long) (seconds * TimeUnit.SECONDS.toNanos(1));
		long ahead = this.dueNanos - now;
		if (ahead > TimeUnit.MILLISECONDS.toNanos(10)) {
			LockSupport.parkNanos(ahead);
		}
	}

	private static MessageDigest sha256() {
		try {
			return MessageDigest.getInstance("SHA-256");
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException("every Java has SHA-256", ex);
		}
	}

}
