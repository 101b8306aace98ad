package io.kvorum.transport;

import java.nio.ByteBuffer;
import java.security.cert.Certificate;

import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLEngineResult.Status;
import javax.net.ssl.SSLException;

/**
 * One end of a TLS handshake of a node with itself, in memory. It finds the errors that
 * two nodes would meet: a key of another certificate, an untrusted chain, another host, a
 * certificate outside its validity, a use that is not allowed.
 */
final class InMemoryTlsHandshake {

	/** Room for several records of the greatest length. */
	private static final int INBOX_BYTES = 128 << 10;

	private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

	private final SSLEngine engine;

	private final ByteBuffer inbox = ByteBuffer.allocate(INBOX_BYTES);

	private final ByteBuffer content;

	private InMemoryTlsHandshake(SSLEngine engine) {
		this.engine = engine;
		this.content = ByteBuffer.allocate(engine.getSession().getApplicationBufferSize());
	}

	/**
	 * Runs the handshake.
	 * @return the certificate of the server
	 * @throws SSLException if one end refuses the other
	 */
	static Certificate of(SSLEngine client, SSLEngine server) throws SSLException {
		InMemoryTlsHandshake near = new InMemoryTlsHandshake(client);
		InMemoryTlsHandshake far = new InMemoryTlsHandshake(server);
		client.beginHandshake();
		server.beginHandshake();
		boolean goesOn = true;
		while (goesOn) {
			boolean nearStepped = near.step(far);
			goesOn = far.step(near) || nearStepped;
		}
		if (near.isUnderWay() || far.isUnderWay()) {
			throw new SSLException("a handshake with it does not finish");
		}
		return client.getSession().getPeerCertificates()[0];
	}

	private boolean isUnderWay() {
		return this.engine.getHandshakeStatus() != HandshakeStatus.NOT_HANDSHAKING;
	}

	/** Makes one step; returns whether any bytes were read or written. */
	private boolean step(InMemoryTlsHandshake other) throws SSLException {
		int bytes = receive();
		SSLEngineResult sent = null;
		while (this.engine.getHandshakeStatus() == HandshakeStatus.NEED_WRAP
				&& (sent == null || sent.getStatus() == Status.OK)) {
			sent = this.engine.wrap(NOTHING, other.inbox);
			runTasks();
			bytes += sent.bytesProduced();
		}
		return bytes > 0;
	}

	private int receive() throws SSLException {
		this.inbox.flip();
		int before = this.inbox.remaining();
		int read = 1;
		while (read > 0 && this.inbox.hasRemaining()) {
			read = this.engine.unwrap(this.inbox, this.content).bytesConsumed();
			runTasks();
		}
		int bytes = before - this.inbox.remaining();
		this.inbox.compact();
		return bytes;
	}

	private void runTasks() {
		for (Runnable task = this.engine.getDelegatedTask(); task != null; task = this.engine.getDelegatedTask()) {
			task.run();
		}
	}

}
