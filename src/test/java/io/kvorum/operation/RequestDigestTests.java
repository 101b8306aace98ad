package io.kvorum.operation;

import java.nio.charset.StandardCharsets;

import io.kvorum.kv.Key;
import io.kvorum.kv.Replicas;
import io.kvorum.kv.Ttl;
import io.kvorum.kv.Value;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class RequestDigestTests {

	private static final Key KEY = Key.of("key".getBytes(StandardCharsets.UTF_8));

	private static RequestDigest put(Replicas replicas, String type, String value, @Nullable Ttl ttl) {
		return RequestDigest.ofPut(KEY, WriteOptions.of(replicas), type,
				Value.of(value.getBytes(StandardCharsets.UTF_8)), ttl);
	}

	private static RequestDigest put(Replicas replicas) {
		return put(replicas, "text/plain", "value", null);
	}

	@Test
	void aRepeatWithoutNumbersIsThatWhateverTheNumbersOfTheClusterAreByThen() {
		assertThat(put(Replicas.majorityOf(3))).isEqualTo(put(Replicas.majorityOf(1)));
		assertThat(put(Replicas.majorityOf(3).relax())).isEqualTo(put(Replicas.majorityOf(5).relax()));
	}

	@Test
	void whateverAClientSaysTellsWritesApart() {
		Replicas some = new Replicas(2, 3);
		assertThat(put(some)).isEqualTo(put(new Replicas(2, 3)))
			.isNotEqualTo(put(new Replicas(3, 3)))
			.isNotEqualTo(put(some.relax()))
			.isNotEqualTo(put(Replicas.majorityOf(3)))
			.isNotEqualTo(put(some, "text/html", "value", null))
			.isNotEqualTo(put(some, "text/plain", "other", null))
			.isNotEqualTo(put(some, "text/plainv", "alue", null))
			.isNotEqualTo(put(some, "text/plain", "value", Ttl.parse("5s")))
			.isNotEqualTo(RequestDigest.ofDelete(KEY, WriteOptions.of(some)));
	}

}
