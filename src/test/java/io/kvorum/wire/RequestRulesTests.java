package io.kvorum.wire;

import java.util.stream.Stream;

import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** The rules without a decoder in front of them: each holds on its own. */
class RequestRulesTests {

	@ParameterizedTest(name = "{0}: {1}")
	@MethodSource("headers")
	void headers(Refusal expected, String headers) {
		assertThat(RequestRules.check(request(HttpVersion.HTTP_1_1, "/", headers))).isEqualTo(expected);
	}

	static Stream<Arguments> headers() {
		return Stream.of(Arguments.of(Refusal.HOST_MISSING, "Accept: a"),
				Arguments.of(Refusal.HOST_REPEATED, "Host: a|HOST: a"), Arguments.of(Refusal.HOST_INVALID, "Host: a b"),
				Arguments.of(Refusal.OLD_WEB_SOCKET, "Host: a|sec-webSocket-key1: a"),
				Arguments.of(Refusal.CONTENT_LENGTH, "Host: a|Content-Length: +5"),
				Arguments.of(Refusal.CONTENT_LENGTH, "Host: a|Content-Length: -0"),
				Arguments.of(Refusal.CONTENT_LENGTH, "Host: a|Content-Length: "),
				Arguments.of(Refusal.CONTENT_LENGTH, "Host: a|Content-Length: 1000000000000000000"),
				Arguments.of(Refusal.CONTENT_LENGTH, "Host: a|content-length: 5|Content-Length: 5"),
				Arguments.of(Refusal.TRANSFER_ENCODING, "Host: a|Transfer-Encoding: xchunked"),
				Arguments.of(Refusal.TRANSFER_ENCODING, "Host: a|Transfer-Encoding: gzip, chunked"),
				Arguments.of(Refusal.TRANSFER_ENCODING, "Host: a|Transfer-Encoding: chunked, "),
				Arguments.of(Refusal.TRANSFER_ENCODING,
						"Host: a|Transfer-Encoding: chunked|transfer-encoding: chunked"),
				Arguments.of(Refusal.LENGTH_AND_ENCODING, "Host: a|Content-Length: 0|Transfer-Encoding: chunked"),
				Arguments.of(Refusal.EXPECTATION, "Host: a|Expect: 200"),
				Arguments.of(Refusal.EXPECTATION, "Host: a|Expect: 100-continue|Expect: 100-continue"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "Host: a", "Host: ", "Host: a|Accept: b|Cookie: c|Origin: d|X: e",
			"Host: a|Content-Length: 999999999999999999", "Host: a|Expect: 100-Continue",
			"hOsT: a|tRANSFER-eNCODING: CHUNKED" })
	void goodHeaders(String headers) {
		assertThat(RequestRules.check(request(HttpVersion.HTTP_1_1, "/", headers))).isNull();
	}

	@ParameterizedTest
	@CsvSource({ "HTTP/1.0, ", "HTTP/1.1, HOST_MISSING", "HTTP/1.2, HTTP_VERSION", "HTTP/9.9, HTTP_VERSION",
			"HTTP/0.9, HTTP_VERSION", "ICY/1.1, HTTP_VERSION" })
	void versions(String version, Refusal expected) {
		assertThat(RequestRules.check(request(HttpVersion.valueOf(version), "/", "A: b"))).isEqualTo(expected);
	}

	@ParameterizedTest
	@CsvSource(delimiter = ' ',
			value = { "/ -", "/v0/entity?id=%41%c3%A9+&b=;//../ -", "/a. -", "/.a/..b/... -", "/a/ -",
					"/a;b PATH_SPELLING", "/%61 PATH_SPELLING", "// PATH_SPELLING", "/a//b PATH_SPELLING",
					"/. PATH_SPELLING", "/.. PATH_SPELLING", "/a/./b PATH_SPELLING", "/a/../b PATH_SPELLING",
					"/a/..?b PATH_SPELLING", "* TARGET_FORM", "a:80 TARGET_FORM", "http://a/b TARGET_FORM",
					"?a TARGET_FORM", "/a?%4 TARGET_CHARACTERS", "/a?%+1 TARGET_CHARACTERS", "/a?b|c TARGET_CHARACTERS",
					"/a\\b TARGET_CHARACTERS", "/a[ TARGET_CHARACTERS", "/]a TARGET_CHARACTERS",
					"/a?\u00e9 TARGET_CHARACTERS", "/\u007f TARGET_CHARACTERS" },
			nullValues = "-")
	void targets(String target, Refusal expected) {
		assertThat(TargetRules.check(target)).isEqualTo(expected);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "a", "a.b-c_d~e", "a:1", "127.0.0.1:65535", "[::1]", "[::1]:80", "[::ffff:1.2.3.4]",
			"a%20b", "UPPER" })
	void goodHosts(String host) {
		assertThat(HostRules.isValid(host)).isTrue();
	}

	@ParameterizedTest
	@ValueSource(strings = { ":", ":80", "a:", "a:b", "a:65536", "a:000080", "a:-1", "a b", "a/b", "a@b", "a?b", "a#b",
			"a\\b", "[", "[]", "[::1", "[::1]x", "[::1]:", "[g]", "[::1%25eth0]", "::1", "a\u00e9", "a,b:1:2" })
	void badHosts(String host) {
		assertThat(HostRules.isValid(host)).isFalse();
	}

	private static HttpRequest request(HttpVersion version, String target, String headers) {
		HttpRequest request = new DefaultHttpRequest(version, HttpMethod.GET, target);
		for (String header : headers.split("\\|", -1)) {
			int colon = header.indexOf(':');
			request.headers().add(header.substring(0, colon), header.substring(colon + 1).trim());
		}
		return request;
	}

}
