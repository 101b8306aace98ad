package io.kvorum.client.bench;

import java.lang.management.ManagementFactory;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import com.sun.management.OperatingSystemMXBean;
import io.kvorum.client.Entities;
import io.kvorum.client.KvorumClient;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.reactive.RedisReactiveCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import org.slf4j.LoggerFactory;
import org.springframework.http.client.reactive.ReactorClientHttpConnector;
import org.springframework.web.reactive.function.client.WebClient;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.http.client.HttpClient;
import reactor.netty.resources.ConnectionProvider;

/**
 * Prints the CPU time of this process for an operation, with 64 under way: values of 32
 * bytes, 10,000 keys chosen at random.
 *
 * <pre>
 * ClientCost kvorum|webclient|lettuce &lt;url of a node or of Redis&gt; get|put &lt;seconds&gt;
 * </pre>
 */
public final class ClientCost {

	private static final int CONCURRENCY = 64;

	private static final int KEYS = 10_000;

	private static final byte[] VALUE = new byte[32];

	private ClientCost() {
	}

	private static Function<String, Mono<?>> operation(String client, String url, boolean isGet) {
		return switch (client) {
			case "kvorum" -> {
				Entities<byte[]> entities = KvorumClient.builder(url).build().entities();
				yield isGet ? entities::get : key -> entities.put(key, VALUE);
			}
			case "webclient" -> {
				ConnectionProvider pool = ConnectionProvider.builder("bare").maxConnections(256).lifo().build();
				WebClient web = WebClient.builder()
					.clientConnector(new ReactorClientHttpConnector(HttpClient.create(pool)))
					.build();
				yield isGet
						? key -> web.get()
							.uri(entity(url, key))
							.exchangeToMono(answer -> answer.bodyToMono(byte[].class))
						: key -> web.put()
							.uri(entity(url, key))
							.bodyValue(VALUE)
							.exchangeToMono(answer -> answer.releaseBody().thenReturn(answer.statusCode()));
			}
			case "lettuce" -> {
				RedisReactiveCommands<byte[], byte[]> redis = RedisClient.create(url)
					.connect(ByteArrayCodec.INSTANCE)
					.reactive();
				yield isGet ? key -> redis.get(key.getBytes(StandardCharsets.UTF_8))
						: key -> redis.set(key.getBytes(StandardCharsets.UTF_8), VALUE);
			}
			default -> throw new IllegalArgumentException(client);
		};
	}

	private static URI entity(String url, String key) {
		return URI.create(url + "/v0/entity?id=" + key);
	}

	/** Runs for some seconds; returns microseconds of CPU for each operation. */
	private static double run(Function<String, Mono<?>> operation, int seconds) {
		OperatingSystemMXBean system = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
		long before = system.getProcessCpuTime();
		Long operations = Flux.generate(sink -> sink.next("key" + ThreadLocalRandom.current().nextInt(KEYS)))
			.flatMap(key -> operation.apply((String) key).hasElement(), CONCURRENCY)
			.take(Duration.ofSeconds(seconds))
			.count()
			.block();
		return (system.getProcessCpuTime() - before) / 1e3 / ((operations != null) ? operations : 1);
	}

	/**
	 * Runs it.
	 * @param args as above
	 */
	public static void main(String[] args) {
		((Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME)).setLevel(Level.WARN);
		boolean isGet = args[2].equals("get");
		int seconds = Integer.parseInt(args[3]);
		Function<String, Mono<?>> operation = operation(args[0], args[1], isGet);
		run(operation, seconds);
		System.out.printf(Locale.ROOT, "%-10s %s %6.1f us%n", args[0], args[2], run(operation, seconds));
		System.exit(0);
	}

}
