package io.kvorum.testing;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;

/**
 * Ports for nodes that have to know each other's before they start, and that come back on
 * the same after a restart: below those that the kernel gives to outgoing connections,
 * one of which would take the port of a node that is away.
 */
public final class Ports {

	private static final int FIRST = 15_000;

	private static final int END = 32_000;

	private static final Set<Integer> GIVEN = new HashSet<>();

	private static final Random RANDOM = new Random();

	private Ports() {
	}

	/** A port that nobody listens on, and that is given once. */
	public static synchronized int free() {
		int port = RANDOM.nextInt(FIRST, END);
		while (!isFree(port) || !GIVEN.add(port)) {
			port = RANDOM.nextInt(FIRST, END);
		}
		return port;
	}

	private static boolean isFree(int port) {
		try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
			return socket.isBound();
		}
		catch (IOException ex) {
			return false;
		}
	}

}
