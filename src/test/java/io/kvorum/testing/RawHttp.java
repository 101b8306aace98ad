package io.kvorum.testing;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSocket;

import org.jspecify.annotations.Nullable;

/**
 * A client that sends the bytes it is given, however wrong, and reads what comes back.
 * Text is ISO-8859-1: a char, a byte. Reads end by what the server does; the generous
 * socket timeout only ends a test that has failed.
 */
public final class RawHttp implements AutoCloseable {

	private static final int READ_TIMEOUT_MILLIS = 20_000;

	private final Socket socket;

	private final InputStream in;

	private RawHttp(Socket socket) throws IOException {
		this.socket = socket;
		this.in = new BufferedInputStream(socket.getInputStream());
	}

	/** Connects to a port of this machine. */
	public static RawHttp connect(int port) {
		return connect(port, 0);
	}

	/**
	 * Connects to a port of this machine.
	 * @param receiveBufferBytes what the client takes without reading; 0 for the default
	 */
	public static RawHttp connect(int port, int receiveBufferBytes) {
		try {
			Socket socket = new Socket();
			if (receiveBufferBytes > 0) {
				socket.setReceiveBufferSize(receiveBufferBytes);
			}
			socket.setTcpNoDelay(true);
			socket.setSoTimeout(READ_TIMEOUT_MILLIS);
			socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
			return new RawHttp(socket);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Goes on in TLS, as a client of {@code localhost}.
	 * @throws UncheckedIOException if the handshake fails
	 */
	public RawHttp secure(SSLContext tls) {
		return secure(tls, "localhost");
	}

	/**
	 * Goes on in TLS, as a client of this host.
	 * @throws UncheckedIOException if the handshake fails
	 */
	public RawHttp secure(SSLContext tls, String host) {
		try {
			SSLSocket secured = (SSLSocket) tls.getSocketFactory()
				.createSocket(this.socket, host, this.socket.getPort(), true);
			SSLParameters parameters = secured.getSSLParameters();
			parameters.setEndpointIdentificationAlgorithm("HTTPS");
			secured.setSSLParameters(parameters);
			secured.startHandshake();
			return new RawHttp(secured);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** The certificate that the server has shown. */
	public X509Certificate shown() {
		try {
			return (X509Certificate) ((SSLSocket) this.socket).getSession().getPeerCertificates()[0];
		}
		catch (SSLPeerUnverifiedException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** Sends all of it in one write. */
	public RawHttp send(String bytes) {
		return send(bytes.getBytes(StandardCharsets.ISO_8859_1));
	}

	public RawHttp send(byte[] bytes) {
		try {
			this.socket.getOutputStream().write(bytes);
			this.socket.getOutputStream().flush();
			return this;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Sends the same bytes over and over, until the server takes no more.
	 * @return how many bytes the client's system took
	 */
	public long sendUntilBroken(byte[] bytes) {
		long sent = 0;
		try {
			while (true) {
				this.socket.getOutputStream().write(bytes);
				sent += bytes.length;
			}
		}
		catch (IOException ex) {
			return sent;
		}
	}

	/**
	 * The next response, by its Content-Length or its chunks; null where there is none.
	 */
	public @Nullable Response read() {
		try {
			String statusLine = line();
			if (statusLine == null) {
				return null;
			}
			Map<String, String> headers = headers();
			int status = Integer.parseInt(statusLine.split(" ", -1)[1]);
			return new Response(status, headers, (status < 200) ? "" : body(headers));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * The status and the headers of the next response, whose body is still to be read, by
	 * {@link #readChunk()} or {@link #readBody(Response)}.
	 */
	public Response readStatus() {
		try {
			String statusLine = line();
			if (statusLine == null) {
				throw new EOFException("The connection ended before a response");
			}
			return new Response(Integer.parseInt(statusLine.split(" ", -1)[1]), headers(), "");
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** A response with the body that belongs to this head. */
	public Response readBody(Response head) {
		try {
			return new Response(head.status(), head.headers(), body(head.headers()));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * The next chunk of a body, as the server has framed it: empty for the one that ends
	 * the body, null where the connection was broken off before.
	 */
	public byte @Nullable [] readChunk() {
		try {
			return chunk();
		}
		catch (EOFException | SocketException ex) {
			return null;
		}
		catch (IOException ex) {
			throw new UncheckedIOException("The server neither goes on nor breaks off", ex);
		}
	}

	/**
	 * Sends a request and reads its response.
	 * @return empty where the server has closed the connection instead
	 */
	public List<Response> exchange(String bytes) {
		try {
			Response response = send(bytes).read();
			return (response != null) ? List.of(response) : List.of();
		}
		catch (UncheckedIOException ex) {
			return List.of();
		}
	}

	/** The status line and the headers of the next response, which has no body. */
	public String readHead() {
		try {
			return line() + headers();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** All responses until the server closes the connection. */
	public List<Response> readUntilClosed() {
		List<Response> responses = new ArrayList<>();
		for (Response response = read(); response != null; response = read()) {
			responses.add(response);
		}
		return responses;
	}

	/** Waits until the server has closed the connection, in whichever way. */
	public void awaitClosed() {
		try {
			this.in.transferTo(OutputStream.nullOutputStream());
		}
		catch (SocketTimeoutException ex) {
			throw new UncheckedIOException("The server has not closed the connection", ex);
		}
		catch (IOException ex) {
			// a reset closes as well
		}
	}

	/** Ends a {@link #sendUntilBroken} of another thread. */
	public void abort() {
		close();
	}

	/** Closes the connection by a reset. */
	public void reset() {
		try {
			this.socket.setSoLinger(true, 0);
			this.socket.close();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@Override
	public void close() {
		try {
			this.socket.close();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private Map<String, String> headers() throws IOException {
		Map<String, String> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
		for (String line = line(); line != null && !line.isEmpty(); line = line()) {
			int colon = line.indexOf(':');
			headers.put(line.substring(0, colon), line.substring(colon + 1).trim());
		}
		return headers;
	}

	private String body(Map<String, String> headers) throws IOException {
		if ("chunked".equals(headers.getOrDefault("transfer-encoding", "").toLowerCase(Locale.ROOT))) {
			return chunks();
		}
		return new String(exactly(Integer.parseInt(headers.getOrDefault("content-length", "0"))),
				StandardCharsets.ISO_8859_1);
	}

	private String chunks() throws IOException {
		StringBuilder body = new StringBuilder();
		for (byte[] chunk = chunk(); chunk.length > 0; chunk = chunk()) {
			body.append(new String(chunk, StandardCharsets.ISO_8859_1));
		}
		return body.toString();
	}

	/** The next chunk; empty for the last one. */
	private byte[] chunk() throws IOException {
		String size = line();
		if (size == null) {
			throw new EOFException("The connection ended within a chunked body");
		}
		byte[] chunk = exactly(Integer.parseInt(size, 16));
		String end = line();
		if (end == null) {
			throw new EOFException("The connection ended behind a chunk");
		}
		if (!end.isEmpty()) {
			throw new IOException("A chunk goes on behind its " + size + " (hex) bytes");
		}
		return chunk;
	}

	private byte[] exactly(int length) throws IOException {
		byte[] bytes = this.in.readNBytes(length);
		if (bytes.length < length) {
			throw new EOFException("The connection ended within a body, at " + bytes.length + " of " + length);
		}
		return bytes;
	}

	private @Nullable String line() throws IOException {
		ByteArrayOutputStream line = new ByteArrayOutputStream();
		for (int b = this.in.read(); b != '\n'; b = this.in.read()) {
			if (b < 0) {
				return null;
			}
			line.write(b);
		}
		return line.toString(StandardCharsets.ISO_8859_1).stripTrailing();
	}

	/** A response; the names of its headers in any case. */
	public record Response(int status, Map<String, String> headers, String body) {

		public @Nullable String header(String name) {
			return this.headers.get(name);
		}

	}

}
