package io.kvorum.testing;

import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Ports for nodes that have to know each other's before they start, and that come back on
 * the same after a restart: below those that the kernel gives to outgoing connections,
 * one of which would take the port of a node that is away. Each is claimed by the UDP
 * socket of the same number until this JVM ends: other JVMs with tests take another.
 */
public final class Ports {

	private static final int FIRST = 15_000;

	private static final int END = 32_000;

	/** Reachable, so that none is closed. */
	private static final List<DatagramSocket> CLAIMS = new ArrayList<>();

	private static final Random RANDOM = new Random();

	private Ports() {
	}

	/** A port that nobody listens on, and that is given once. */
	public static synchronized int free() {
		int port = RANDOM.nextInt(FIRST, END);
		while (!claim(port)) {
			port = RANDOM.nextInt(FIRST, END);
		}
		return port;
	}

	/**
	 * Cuts the connections of this machine to a port; returns how many there were, none
	 * where this machine cannot.
	 */
	static long cutConnectionsTo(int port) throws InterruptedException {
		try {
			Process cut = new ProcessBuilder("ss", "--kill", "--tcp", "dst", "127.0.0.1", "dport", "=",
					String.valueOf(port))
				.redirectErrorStream(true)
				.start();
			String said = new String(cut.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
			return (cut.waitFor() == 0) ? said.lines().filter(line -> line.startsWith("ESTAB")).count() : 0;
		}
		catch (IOException ex) {
			return 0;
		}
	}

	private static boolean claim(int port) {
		InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
		try (ServerSocket socket = new ServerSocket()) {
			socket.bind(address, 1);
			return CLAIMS.add(new DatagramSocket(address));
		}
		catch (IOException _) {
			return false;
		}
	}

}
