package io.kvorum.bench;

import java.util.Random;
import java.util.concurrent.TimeUnit;

import io.kvorum.kv.Entry;
import io.kvorum.kv.Entry.Live;
import io.kvorum.kv.Key;
import io.kvorum.kv.Value;
import io.kvorum.kv.Version;
import io.kvorum.storage.EntryFormat;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** Measures an entry to bytes and back, with the checksum over key and value. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(Scope.Thread)
@SuppressWarnings("NullAway.Init")
public class EntryCodecBenchmark {

	private static final int COPIES = 3;

	/** Size of the value. */
	@Param({ "32", "1024" })
	int bytes;

	Key key;

	Entry entry;

	byte[] encoded;

	@Setup
	public void makeEntry() {
		byte[] value = new byte[this.bytes];
		new Random(this.bytes).nextBytes(value);
		this.key = new Keys("codec", 1).next();
		this.entry = new Live(new Version(Version.lastTimestampOf(System.currentTimeMillis()), 1), COPIES, Live.NEVER,
				"application/octet-stream", Value.of(value));
		this.encoded = EntryFormat.encode(this.key, this.entry);
	}

	@Benchmark
	public byte[] encode() {
		return EntryFormat.encode(this.key, this.entry);
	}

	/** The value is a slice of the bytes and not copied. */
	@Benchmark
	public Entry decode() {
		return EntryFormat.decode(this.key, this.encoded);
	}

}
