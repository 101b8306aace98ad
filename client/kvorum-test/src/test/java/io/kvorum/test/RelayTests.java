package io.kvorum.test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.util.Arrays;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@Timeout(30)
class RelayTests {

	private static final int SILENCE_MILLIS = 200;

	private final ServerSocket echo = listen();

	private final Relay relay = new Relay(Ports.free(), this.echo.getLocalPort());

	@BeforeEach
	void start() {
		Thread server = new Thread(this::serve);
		server.setDaemon(true);
		server.start();
		this.relay.targetIsUp();
	}

	@AfterEach
	void stop() throws IOException {
		this.relay.close();
		this.echo.close();
	}

	@Test
	void bytesPassInBothDirectionsUntilBothSidesHaveEnded() throws IOException {
		byte[] sent = new byte[1_000_000];
		Arrays.fill(sent, (byte) 7);
		try (Socket client = connect()) {
			Thread writer = new Thread(() -> write(client, sent));
			writer.start();
			assertThat(client.getInputStream().readAllBytes()).isEqualTo(sent);
		}
	}

	@Test
	void aConnectionThatIsCutIsSilentAndIsClosedByHealing() throws IOException {
		try (Socket client = connect()) {
			assertThat(echoed(client, 1)).isEqualTo(1);
			this.relay.cut();
			client.setSoTimeout(SILENCE_MILLIS);
			assertThatExceptionOfType(SocketTimeoutException.class).isThrownBy(() -> echoed(client, 2));
			this.relay.heal();
			assertThat(isClosedByPeer(client)).isTrue();
		}
		try (Socket client = connect()) {
			assertThat(echoed(client, 3)).isEqualTo(3);
		}
	}

	@Test
	void aConnectionMadeDuringTheCutIsAcceptedAndSilent() throws IOException {
		this.relay.cut();
		try (Socket client = connect()) {
			client.setSoTimeout(SILENCE_MILLIS);
			assertThatExceptionOfType(SocketTimeoutException.class).isThrownBy(() -> echoed(client, 1));
			this.relay.heal();
			assertThat(isClosedByPeer(client)).isTrue();
		}
	}

	@Test
	void connectionsAreRefusedWhileTheTargetIsDown() throws IOException {
		this.relay.targetIsDown();
		assertThatExceptionOfType(ConnectException.class).isThrownBy(this::connect);
		this.relay.targetIsUp();
		try (Socket client = connect()) {
			assertThat(echoed(client, 1)).isEqualTo(1);
		}
	}

	@Test
	void clientsDoNotSeeTheEndOfATargetBehindACut() throws IOException {
		try (Socket client = connect()) {
			assertThat(echoed(client, 1)).isEqualTo(1);
			this.relay.cut();
			this.relay.targetIsDown();
			client.setSoTimeout(SILENCE_MILLIS);
			assertThatExceptionOfType(SocketTimeoutException.class).isThrownBy(() -> echoed(client, 2));
			this.relay.heal();
			assertThat(isClosedByPeer(client)).isTrue();
		}
		assertThatExceptionOfType(ConnectException.class).isThrownBy(this::connect);
	}

	private Socket connect() throws IOException {
		return new Socket(InetAddress.getLoopbackAddress(), this.relay.port());
	}

	private static int echoed(Socket client, int value) throws IOException {
		client.getOutputStream().write(value);
		return client.getInputStream().read();
	}

	/** Waits for the end of the connection: bytes that were not read make it a reset. */
	private static boolean isClosedByPeer(Socket client) throws IOException {
		client.setSoTimeout(0);
		try {
			return client.getInputStream().read() < 0;
		}
		catch (SocketException ex) {
			return true;
		}
	}

	private static void write(Socket client, byte[] bytes) {
		try {
			client.getOutputStream().write(bytes);
			client.shutdownOutput();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static ServerSocket listen() {
		try {
			return new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** One connection after the other is enough for these tests. */
	private void serve() {
		while (!this.echo.isClosed()) {
			try (Socket socket = this.echo.accept()) {
				socket.getInputStream().transferTo(socket.getOutputStream());
			}
			catch (IOException ex) {
				// That of a connection that was closed, or of the end of the test.
			}
		}
	}

}
