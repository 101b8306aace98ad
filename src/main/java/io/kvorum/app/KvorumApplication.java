package io.kvorum.app;

import io.kvorum.storage.rocksdb.RocksStorage;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import reactor.netty.ReactorNetty;

/** Starts a node. */
@SpringBootApplication(scanBasePackages = "io.kvorum")
public class KvorumApplication {

	public static void main(String[] args) {
		setEventLoops();
		refuseRenegotiation();
		Thread.ofPlatform().name("kvorum-preload").daemon().start(RocksStorage::preload);
		SpringApplication.run(KvorumApplication.class, args);
	}

	/**
	 * One event loop for each processor; reactor-netty would have four at least. Where
	 * fewer connections share a loop, less goes out by one write, and fewer results come
	 * back by one task: two processors with four loops spend a tenth more on a write.
	 */
	private static void setEventLoops() {
		if (System.getProperty(ReactorNetty.IO_WORKER_COUNT) == null) {
			System.setProperty(ReactorNetty.IO_WORKER_COUNT,
					Integer.toString(Runtime.getRuntime().availableProcessors()));
		}
	}

	/**
	 * A client of TLS 1.2 may ask for a new handshake at any time, which costs the server
	 * much more than the client. No property of Spring's reaches this.
	 */
	private static void refuseRenegotiation() {
		String reject = "jdk.tls.rejectClientInitiatedRenegotiation";
		if (System.getProperty(reject) == null) {
			System.setProperty(reject, "true");
		}
	}

}
