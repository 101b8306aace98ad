package io.kvorum.operation;

import java.util.Set;

import io.kvorum.kv.Version;
import org.jspecify.annotations.Nullable;

/**
 * What must hold of a key for a write of it to happen (RFC 9110, section 13.1).
 * <p>
 * A tombstone and an expired value count as no value.
 *
 * @param match the value must be one of these; null for no such condition
 * @param noneMatch the value must be none of these; null for no such condition
 */
public record Condition(@Nullable Tags match, @Nullable Tags noneMatch) {

	/** No condition. */
	public static final Condition NONE = new Condition(null, null);

	public boolean isNone() {
		return this.match == null && this.noneMatch == null;
	}

	/**
	 * Whether it holds.
	 * @param current the identity of the value; null if the key has none
	 */
	public boolean holdsFor(@Nullable Version current) {
		return (this.match == null || this.match.include(current))
				&& (this.noneMatch == null || !this.noneMatch.include(current));
	}

	/**
	 * The values that a header names.
	 *
	 * @param any whether it names any value: {@code *}
	 * @param versions the identities that it names
	 */
	public record Tags(boolean any, Set<Version> versions) {

		/** Any value at all. */
		public static final Tags ANY = new Tags(true, Set.of());

		boolean include(@Nullable Version current) {
			return current != null && (this.any || this.versions.contains(current));
		}

	}

}
