package io.kvorum.cluster;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.Locale;

/**
 * Address on which a node listens for the other nodes. DNS need not know the name at the
 * start, since other nodes start before and after this one. TLS is no part of the
 * address: a node keeps its identity and data when TLS is switched on or off.
 *
 * @param host a name, an IPv4 address, or an IPv6 address in brackets; in lower case
 * @param port 1 to 65535
 */
public record ReplicaAddress(String host, int port) {

	/** Form that {@link #parse} accepts, for messages. */
	public static final String FORM = "must be http://host:port, with a port from 1 to 65535 and nothing after it";

	private static final int MAX_PORT = 65_535;

	private static final String SECURE = "https";

	/**
	 * Reads {@code http://host:port}, or the same with {@code https}.
	 * @throws IllegalArgumentException if it is anything else
	 */
	public static ReplicaAddress parse(String text) {
		try {
			URI uri = new URI(text.strip()).parseServerAuthority();
			String host = uri.getHost();
			boolean bare = uri.getRawUserInfo() == null && "".equals(uri.getRawPath()) && uri.getRawQuery() == null
					&& uri.getRawFragment() == null;
			boolean isHttp = "http".equalsIgnoreCase(uri.getScheme()) || SECURE.equalsIgnoreCase(uri.getScheme());
			if (!isHttp || host == null || !bare || uri.getPort() < 1 || uri.getPort() > MAX_PORT) {
				throw new IllegalArgumentException(FORM);
			}
			return new ReplicaAddress(host.toLowerCase(Locale.ROOT), uri.getPort());
		}
		catch (URISyntaxException ex) {
			throw new IllegalArgumentException(FORM, ex);
		}
	}

	/** Whether an address begins with https. */
	public static boolean isSecure(String text) {
		return text.strip().regionMatches(true, 0, SECURE + ":", 0, SECURE.length() + 1);
	}

	/** The host as a certificate names it: an IPv6 address without brackets. */
	public String bareHost() {
		return this.host.startsWith("[") ? this.host.substring(1, this.host.length() - 1) : this.host;
	}

	/** Whether only this machine can reach the address. */
	public boolean isLoopback() {
		return this.host.equals("localhost") || this.host.startsWith("127.") || this.host.equals("[::1]");
	}

	/** The normal form, which names the node in the cluster. */
	@Override
	public String toString() {
		return "http://" + this.host + ":" + this.port;
	}

}
