package io.kvorum.test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;

/**
 * Forwards TCP connections to a port of this machine, and can be cut like a network
 * cable. While it is cut, connections stay open, new ones are accepted, and no byte gets
 * through. After {@link #heal()} those connections are closed, since they have lost
 * bytes.
 * <p>
 * The relay refuses connections while its target is down, as the target would. A client
 * that is refused knows that nothing was done; one whose connection breaks does not.
 * <p>
 * Each connection has two daemon threads: tests have few connections, and blocking copies
 * need no buffers beyond one for each thread.
 */
final class Relay {

	static final int MAX_CONNECTIONS = 256;

	private static final int BUFFER_BYTES = 16 * 1024;

	private static final int CONNECT_TIMEOUT_MILLIS = 5_000;

	private final int port;

	private final InetSocketAddress target;

	private final Set<Connection> connections = ConcurrentHashMap.newKeySet();

	private @Nullable ServerSocket server;

	/** Whether a thread is in {@link #acceptAll}. */
	private boolean isAccepting;

	private boolean isUp;

	/** Written with the lock, read by all threads. */
	private volatile boolean isCut;

	/**
	 * Creates a relay whose target is down.
	 * @param port on which it listens on the loopback address
	 * @param target port on the loopback address
	 */
	Relay(int port, int target) {
		this.port = port;
		this.target = new InetSocketAddress(InetAddress.getLoopbackAddress(), target);
	}

	int port() {
		return this.port;
	}

	/** Forwards from now on. */
	synchronized void targetIsUp() {
		this.isUp = true;
		listenOrRefuse();
	}

	/** Refuses from now on, unless it is cut. */
	synchronized void targetIsDown() {
		this.isUp = false;
		listenOrRefuse();
	}

	/**
	 * Lets no byte through that arrives from now on. Bytes that have arrived before may
	 * still get through.
	 */
	synchronized void cut() {
		this.isCut = true;
		listenOrRefuse();
	}

	synchronized void heal() {
		if (this.isCut) {
			this.connections.forEach(Connection::close);
			this.isCut = false;
			listenOrRefuse();
		}
	}

	/** Refuses connections and closes those that are open. */
	synchronized void close() {
		this.isCut = false;
		targetIsDown();
	}

	private void listenOrRefuse() {
		try {
			if (this.isUp || this.isCut) {
				listen();
			}
			else if (this.server != null) {
				this.server.close();
				this.server = null;
				awaitEndOfAccept();
				this.connections.forEach(Connection::close);
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException("The relay on port " + this.port, ex);
		}
	}

	private void listen() throws IOException {
		awaitEndOfAccept();
		if (this.server == null) {
			ServerSocket listening = new ServerSocket();
			listening.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), this.port));
			this.server = listening;
			this.isAccepting = true;
			daemon("accept", () -> acceptAll(listening));
		}
	}

	/**
	 * Waits while a closed socket still accepts: the kernel keeps it for a thread that is
	 * in {@code accept} until that thread has returned.
	 */
	private void awaitEndOfAccept() {
		boolean isInterrupted = false;
		while (this.server == null && this.isAccepting) {
			try {
				wait();
			}
			catch (InterruptedException ex) {
				isInterrupted = true;
			}
		}
		if (isInterrupted) {
			Thread.currentThread().interrupt();
		}
	}

	private void acceptAll(ServerSocket listening) {
		try {
			while (true) {
				admit(listening.accept());
			}
		}
		catch (IOException ex) {
			// The socket was closed: the target is down.
		}
		finally {
			endAccept();
		}
	}

	private synchronized void endAccept() {
		this.isAccepting = false;
		notifyAll();
	}

	private synchronized void admit(Socket client) {
		Connection connection = new Connection(client);
		if (this.connections.size() >= MAX_CONNECTIONS || this.server == null) {
			connection.close();
			return;
		}
		this.connections.add(connection);
		if (!this.isCut) {
			daemon("up", connection::connect);
		}
	}

	private void daemon(String name, Runnable work) {
		Thread thread = new Thread(work, "kvorum-test-relay-%d-%s".formatted(this.port, name));
		thread.setDaemon(true);
		thread.start();
	}

	private final class Connection {

		private final Socket client;

		private final Socket node = new Socket();

		/** Directions that have not ended. */
		private final AtomicInteger open = new AtomicInteger(2);

		Connection(Socket client) {
			this.client = client;
		}

		/** Connects to the target and copies what the client sends. */
		void connect() {
			try {
				this.client.setTcpNoDelay(true);
				this.node.setTcpNoDelay(true);
				this.node.connect(Relay.this.target, CONNECT_TIMEOUT_MILLIS);
			}
			catch (IOException ex) {
				end();
				return;
			}
			daemon("down", () -> copy(this.node, this.client));
			copy(this.client, this.node);
		}

		private void copy(Socket from, Socket to) {
			byte[] buffer = new byte[BUFFER_BYTES];
			try {
				for (int length = from.getInputStream().read(buffer); length >= 0; length = from.getInputStream()
					.read(buffer)) {
					if (!Relay.this.isCut) {
						to.getOutputStream().write(buffer, 0, length);
					}
				}
				if (!Relay.this.isCut) {
					to.shutdownOutput();
				}
				if (this.open.decrementAndGet() == 0) {
					end();
				}
			}
			catch (IOException ex) {
				end();
			}
		}

		/** Closes the connection. While it is cut, neither side gets to know that. */
		private void end() {
			if (!Relay.this.isCut) {
				close();
			}
		}

		void close() {
			Relay.this.connections.remove(this);
			closeQuietly(this.client);
			closeQuietly(this.node);
		}

		private static void closeQuietly(Socket socket) {
			try {
				socket.close();
			}
			catch (IOException ex) {
				// It is closed all the same.
			}
		}

	}

}
