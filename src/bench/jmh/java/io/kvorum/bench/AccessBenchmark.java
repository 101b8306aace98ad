package io.kvorum.bench;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.concurrent.TimeUnit;

import io.kvorum.access.AccessControl;
import io.kvorum.access.ApiKey;
import io.kvorum.access.DeniedException;
import io.kvorum.access.KeysFile;
import io.kvorum.access.Right;
import io.kvorum.clock.TimeSource;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/**
 * Measures the cost of API keys for a request: finding its header among those that curl
 * sends, authentication and authorization. The file has 100 keys with four rules each, of
 * which the last one allows the request.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(Scope.Thread)
@SuppressWarnings("NullAway.Init")
public class AccessBenchmark {

	private static final int KEYS = 100;

	private static final String RULES = """
			"rules":[{"prefix":"a/","rights":["read"]},{"prefix":"b/","rights":["read"]},
			{"prefix":"c/","rights":["read"]},{"prefix":"key","rights":["read"]}]""";

	private static final String RATE = ",\"rate\":{\"per-second\":1000000,\"burst\":1000000}";

	Keys keys;

	AccessControl controlled;

	AccessControl open;

	HttpHeaders headers;

	HttpHeaders rated;

	@Setup
	public void makeKeys() throws NoSuchAlgorithmException {
		this.keys = new Keys("key", 10_000);
		StringBuilder file = new StringBuilder("{\"keys\":[");
		for (int i = 0; i < KEYS; i++) {
			String hash = HexFormat.of()
				.formatHex(MessageDigest.getInstance("SHA-256").digest(secret(i).getBytes(StandardCharsets.UTF_8)));
			file.append((i > 0) ? "," : "")
				.append("{\"id\":\"client-%d\",\"sha256\":\"%s\",%s%s}".formatted(i, hash, RULES,
						(i % 2 == 1) ? RATE : ""));
		}
		byte[] content = file.append("]}").toString().getBytes(StandardCharsets.UTF_8);
		this.controlled = AccessControl.by(KeysFile.read(content, TimeSource.SYSTEM.nanos()), TimeSource.SYSTEM);
		this.open = AccessControl.off(TimeSource.SYSTEM);
		this.headers = headersOf(10);
		this.rated = headersOf(11);
	}

	private static String secret(int key) {
		return "A-secret-of-256-bits-in-base64url-number%03d".formatted(key);
	}

	private static HttpHeaders headersOf(int key) {
		return new DefaultHttpHeaders().add(HttpHeaderNames.HOST, "localhost:8080")
			.add(HttpHeaderNames.USER_AGENT, "curl/8.5.0")
			.add(HttpHeaderNames.ACCEPT, "*/*")
			.add(HttpHeaderNames.AUTHORIZATION, "Bearer client-%d.%s".formatted(key, secret(key)));
	}

	private ApiKey read(AccessControl control, HttpHeaders headers) {
		ApiKey caller = control.admit(headers.getAll(HttpHeaderNames.AUTHORIZATION));
		caller.require(Right.READ, this.keys.next());
		return caller;
	}

	@Benchmark
	public ApiKey byKey() {
		return read(this.controlled, this.headers);
	}

	/** Asks faster than the rate allows: a refusal costs the same. */
	@Benchmark
	public ApiKey byKeyWithRate() {
		try {
			return read(this.controlled, this.rated);
		}
		catch (DeniedException _) {
			return ApiKey.anyone();
		}
	}

	/** Does what the gate does without keys: it reads no header. */
	@Benchmark
	public ApiKey off() {
		ApiKey caller = this.open.isControlled() ? read(this.open, this.headers) : ApiKey.anyone();
		caller.require(Right.READ, this.keys.next());
		return caller;
	}

}
