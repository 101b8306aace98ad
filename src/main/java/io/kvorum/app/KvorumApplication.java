package io.kvorum.app;

import io.kvorum.storage.rocksdb.RocksStorage;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** Starts a node. */
@SpringBootApplication(scanBasePackages = "io.kvorum")
public class KvorumApplication {

	public static void main(String[] args) {
		Thread.ofPlatform().name("kvorum-preload").daemon().start(RocksStorage::preload);
		SpringApplication.run(KvorumApplication.class, args);
	}

}
