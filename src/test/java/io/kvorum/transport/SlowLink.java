package io.kvorum.transport;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Passes on what arrives at an address, only so fast; what comes back, at once. */
final class SlowLink implements AutoCloseable {

	private static final int BUFFER_BYTES = 16 << 10;

	private final ServerSocket listening;

	private final int port;

	private final int bytesPerSecond;

	SlowLink(InetSocketAddress from, int port, int bytesPerSecond) {
		this.port = port;
		this.bytesPerSecond = bytesPerSecond;
		try {
			this.listening = new ServerSocket();
			// The kernel of a fast machine would take all at once.
			this.listening.setReceiveBufferSize(4 * BUFFER_BYTES);
			this.listening.bind(from);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		Thread.ofPlatform().daemon().start(this::accept);
	}

	private void accept() {
		try {
			while (true) {
				Socket in = this.listening.accept();
				Socket out = new Socket(InetAddress.getLoopbackAddress(), this.port);
				Thread.ofPlatform().daemon().start(() -> pass(in, out, this.bytesPerSecond));
				Thread.ofPlatform().daemon().start(() -> pass(out, in, Integer.MAX_VALUE));
			}
		}
		catch (IOException _) {
			// It is over.
		}
	}

	private static void pass(Socket from, Socket to, int bytesPerSecond) {
		try (from; to) {
			InputStream in = from.getInputStream();
			OutputStream out = to.getOutputStream();
			byte[] some = new byte[BUFFER_BYTES];
			long due = System.nanoTime();
			for (int read = in.read(some); read >= 0; read = in.read(some)) {
				due = Math.max(due, System.nanoTime()) + TimeUnit.SECONDS.toNanos(read) / bytesPerSecond;
				while (due > System.nanoTime()) {
					LockSupport.parkNanos(due - System.nanoTime());
				}
				out.write(some, 0, read);
			}
		}
		catch (IOException _) {
			// It is over.
		}
	}

	@Override
	public void close() throws IOException {
		this.listening.close();
	}

}
