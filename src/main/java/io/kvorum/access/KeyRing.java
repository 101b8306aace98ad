package io.kvorum.access;

import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/** The API keys of a keys file, by id. */
public final class KeyRing {

	static final KeyRing EMPTY = new KeyRing(List.of());

	private final Map<String, ApiKey> keys = new HashMap<>();

	KeyRing(Collection<ApiKey> keys) {
		keys.forEach(key -> this.keys.put(key.id(), key));
	}

	@Nullable ApiKey find(String id) {
		return this.keys.get(id);
	}

	int size() {
		return this.keys.size();
	}

	/**
	 * These keys with the buckets that keys of the same id and rate have in the other
	 * ring.
	 */
	KeyRing following(KeyRing other) {
		return new KeyRing(this.keys.values().stream().map(key -> key.following(other.find(key.id()))).toList());
	}

}
