package io.kvorum.access;

import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/** The keys of a file. */
public final class KeyRing {

	/** No keys. */
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

	/** These keys with the tokens that keys of the same ids have left. */
	KeyRing following(KeyRing other) {
		return new KeyRing(this.keys.values().stream().map(key -> key.following(other.find(key.id()))).toList());
	}

}
