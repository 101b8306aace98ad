package io.kvorum.samples.plain;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

import io.kvorum.client.Codec;
import io.kvorum.client.KvorumClient;
import io.kvorum.test.KvorumExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

class VisitsIT {

	@RegisterExtension
	static final KvorumExtension kvorum = KvorumExtension.nodes(3);

	@Test
	void visitsAreCountedThoughANodeIsKilled() {
		ByteArrayOutputStream out = new ByteArrayOutputStream();
		try (KvorumClient client = KvorumClient.builder(kvorum.urls()).build();
				PrintStream printed = new PrintStream(out, true, StandardCharsets.UTF_8)) {
			for (String page : new String[] { "home", "about", "home" }) {
				Visits.count(page, client.entities(Codec.text()).blocking(), printed);
				kvorum.node(1).kill();
			}
		}
		assertThat(out.toString(StandardCharsets.UTF_8).lines()).endsWith("home was visited 2 times", "visits/about 1",
				"visits/home 2");
	}

}
