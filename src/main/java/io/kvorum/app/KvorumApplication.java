package io.kvorum.app;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** Starts a node. */
@SpringBootApplication(scanBasePackages = "io.kvorum")
public class KvorumApplication {

	public static void main(String[] args) {
		SpringApplication.run(KvorumApplication.class, args);
	}

}
