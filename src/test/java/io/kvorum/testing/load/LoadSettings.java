package io.kvorum.testing.load;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;

/**
 * What is asked of a cluster.
 *
 * @param nodes where each takes requests
 * @param rate requests a second, in all
 * @param puts the part of them that are PUTs, of 0 to 1; the others are GETs
 * @param connections to each node while all are there; so many requests are under way at
 * most, and what is due later waits, which counts
 */
public record LoadSettings(List<InetSocketAddress> nodes, int rate, double puts, int connections) {

	public LoadSettings {
		nodes = List.copyOf(nodes);
		if (rate < 1 || puts < 0 || puts > 1 || connections < 1 || nodes.isEmpty()) {
			throw new IllegalArgumentException(
					"a load of %d requests/s, %s of them PUTs, over %d connections to each of %d nodes".formatted(rate,
							puts, connections, nodes.size()));
		}
	}

	/** Of ports of this machine, a third of it PUTs. */
	public static LoadSettings onPorts(List<Integer> ports, int rate) {
		return new LoadSettings(
				ports.stream().map(port -> new InetSocketAddress(InetAddress.getLoopbackAddress(), port)).toList(),
				rate, 1 / 3.0, 16);
	}

}
