package io.kvorum.test;

import java.util.HashSet;
import java.util.Set;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class PortsTests {

	@Test
	void eachPortIsGivenOnceAndLiesBelowThoseOfOutgoingConnections() {
		Set<Integer> ports = new HashSet<>();
		for (int i = 0; i < 50; i++) {
			int port = Ports.free();
			assertThat(port).isBetween(Ports.FIRST, Ports.END - 1);
			assertThat(ports.add(port)).as("port %d", port).isTrue();
		}
	}

}
