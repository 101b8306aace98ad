package io.kvorum.transport;

import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Locale;

import io.netty.util.NetUtil;

/**
 * Match of a certificate with a host by subject alternative names only (RFC 9525). An
 * address is compared with names of type address, as bytes. A DNS name is compared
 * without regard to case, and {@code *} stands for the whole first label.
 */
final class SubjectNames {

	/** Types of a subject alternative name (RFC 5280, 4.2.1.6). */
	private static final int DNS_NAME = 2;

	private static final int IP_ADDRESS = 7;

	private static final String ANY_LABEL = "*.";

	private SubjectNames() {
	}

	/**
	 * Whether a certificate names a host.
	 * @param host a name, an IPv4 address, or an IPv6 address, in brackets or not
	 */
	static boolean name(X509Certificate certificate, String host) {
		try {
			Collection<List<?>> names = certificate.getSubjectAlternativeNames();
			return names != null && names.stream().anyMatch(name -> isOf(host, (Integer) name.get(0), name.get(1)));
		}
		catch (CertificateParsingException ex) {
			return false;
		}
	}

	/** Whether a name of this type, in the form of the JDK, is that of the host. */
	static boolean isOf(String host, int kind, Object name) {
		byte[] address = NetUtil.createByteArrayFromIpAddressString(host);
		if (address != null) {
			return kind == IP_ADDRESS && name instanceof String text
					&& Arrays.equals(address, NetUtil.createByteArrayFromIpAddressString(text));
		}
		return kind == DNS_NAME && name instanceof String text
				&& matches(host.toLowerCase(Locale.ROOT), text.toLowerCase(Locale.ROOT));
	}

	private static boolean matches(String host, String pattern) {
		if (!pattern.startsWith(ANY_LABEL)) {
			return host.equals(pattern);
		}
		int dot = host.indexOf('.');
		String rest = pattern.substring(ANY_LABEL.length());
		// A wildcard must not cover a whole top-level domain.
		return dot > 0 && rest.indexOf('.') > 0 && host.substring(dot + 1).equals(rest);
	}

}
