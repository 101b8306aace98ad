package io.kvorum.api;

import java.util.HexFormat;

import io.kvorum.kv.Version;

/** A version, as clients see it: opaque. */
final class EntityTag {

	private static final HexFormat HEX = HexFormat.of();

	private EntityTag() {
	}

	/** As the header ETag has it. */
	static String quoted(Version version) {
		return '"' + hex(version) + '"';
	}

	static String hex(Version version) {
		return HEX.toHexDigits(version.timestamp()) + HEX.toHexDigits(version.node());
	}

}
