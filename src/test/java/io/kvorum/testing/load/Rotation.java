package io.kvorum.testing.load;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Which nodes get new connections, as a balancer with health checks has it: a node that
 * refuses one, or says that it closes one, gets no more until it says that it is ready.
 * Connections that are open are left alone.
 */
final class Rotation implements AutoCloseable {

	private static final int INTERVAL_MILLIS = 300;

	private static final int TIMEOUT_MILLIS = 2_000;

	private static final byte[] CHECK = "GET /actuator/health/readiness HTTP/1.1\r\nHost: kvorum\r\nConnection: close\r\n\r\n"
		.getBytes(StandardCharsets.US_ASCII);

	private final List<InetSocketAddress> nodes;

	/** Of each how often it has left, doubled, and one more while it is in. */
	private final AtomicLongArray states;

	private final CountDownLatch closed = new CountDownLatch(1);

	private final Thread checker = Thread.ofPlatform().daemon().name("rotation").unstarted(this::check);

	/** With all nodes in it. */
	Rotation(List<InetSocketAddress> nodes) {
		this.nodes = nodes;
		this.states = new AtomicLongArray(nodes.size());
		for (int node = 0; node < nodes.size(); node++) {
			this.states.set(node, 1);
		}
	}

	void start() {
		this.checker.start();
	}

	boolean has(int node) {
		return (this.states.get(node) & 1) == 1;
	}

	/** A check that began before does not bring it back. */
	void leave(int node) {
		this.states.updateAndGet(node, state -> (state | 1) + 1);
	}

	/**
	 * Where a connection is led to that belongs to this node: another one while it is
	 * out.
	 * @param attempt from 0 on; each tries another one where none is in
	 */
	int choose(int home, int attempt) {
		for (int i = 0; i < this.nodes.size(); i++) {
			int node = (home + attempt + i) % this.nodes.size();
			if (has(node)) {
				return has(home) ? home : node;
			}
		}
		return (home + attempt) % this.nodes.size();
	}

	private void check() {
		try {
			while (!this.closed.await(INTERVAL_MILLIS, TimeUnit.MILLISECONDS)) {
				for (int node = 0; node < this.nodes.size(); node++) {
					long before = this.states.get(node);
					boolean isReady = isReady(this.nodes.get(node));
					if (isReady && !has(node)) {
						this.states.compareAndSet(node, before, before + 1);
					}
					else if (!isReady && has(node)) {
						leave(node);
					}
				}
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private static boolean isReady(InetSocketAddress node) {
		try (Socket socket = new Socket()) {
			socket.setSoTimeout(TIMEOUT_MILLIS);
			socket.connect(node, TIMEOUT_MILLIS);
			socket.getOutputStream().write(CHECK);
			InputStream in = socket.getInputStream();
			String status = new String(in.readNBytes("HTTP/1.1 200".length()), StandardCharsets.US_ASCII);
			in.transferTo(OutputStream.nullOutputStream());
			return status.equals("HTTP/1.1 200");
		}
		catch (IOException ex) {
			return false;
		}
	}

	@Override
	public void close() {
		this.closed.countDown();
	}

}
