package io.kvorum.test;

import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;

/**
 * Ports that stay free while a node is down, so that it comes back on the same ones. They
 * lie below the ports that the kernel gives to outgoing connections. Each is claimed by
 * the UDP socket of the same number until this JVM ends: another JVM with tests takes
 * another port.
 */
final class Ports {

	static final int FIRST = 15_000;

	static final int END = 32_000;

	private static final int MAX_TRIES = 1_000;

	/** Kept reachable, since a socket that is collected is closed. */
	private static final Map<Integer, DatagramSocket> CLAIMS = new HashMap<>();

	private static final Random RANDOM = new Random();

	private Ports() {
	}

	/** Returns a port that no process listens on, and again only if it was given up. */
	static synchronized int free() {
		for (int tries = 0; tries < MAX_TRIES; tries++) {
			int port = FIRST + RANDOM.nextInt(END - FIRST);
			if (claim(port)) {
				return port;
			}
		}
		throw new IllegalStateException(
				"None of %d ports tried from %d to %d is free".formatted(MAX_TRIES, FIRST, END - 1));
	}

	/** Gives a port up that nobody uses any more. */
	static synchronized void release(int port) {
		DatagramSocket claim = CLAIMS.remove(port);
		if (claim != null) {
			claim.close();
		}
	}

	private static boolean claim(int port) {
		InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
		try (ServerSocket socket = new ServerSocket()) {
			socket.bind(address, 1);
			CLAIMS.put(port, new DatagramSocket(address));
			return true;
		}
		catch (IOException ex) {
			return false;
		}
	}

}
