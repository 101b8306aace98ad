package io.kvorum.node;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

import static org.assertj.core.api.Assertions.assertThat;

/** A host that requests name, and that no node is to connect to. */
final class NamedHost implements AutoCloseable {

	private final ServerSocket socket;

	NamedHost() {
		try {
			this.socket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** Host and port. */
	String authority() {
		return "127.0.0.1:" + this.socket.getLocalPort();
	}

	/** Connections are accepted in their order, and the first one is this one's own. */
	void assertNobodyCame() throws IOException {
		try (Socket own = new Socket(this.socket.getInetAddress(), this.socket.getLocalPort());
				Socket first = this.socket.accept()) {
			assertThat(first.getRemoteSocketAddress()).isEqualTo(own.getLocalSocketAddress());
		}
	}

	@Override
	public void close() throws IOException {
		this.socket.close();
	}

}
