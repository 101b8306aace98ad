package io.kvorum.replication;

import io.kvorum.replication.PeerQuery.Kind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class PeerQueryTests {

	@ParameterizedTest
	@CsvSource({ "1, INTRODUCTION", "2, SLICES", "3, LEAVES", "4, COMPARE", "5, FETCH", "6, FETCH_WHOLE", "7, PROMISES",
			"8, HEAD" })
	void aKindHasTheSameCodeAsEver(byte code, Kind kind) {
		PeerQuery query = PeerQuery.of(new byte[] { code, 7, 8 });

		assertThat(query.kind()).isEqualTo(kind);
		assertThat(query.body().remaining()).isEqualTo(2);
		assertThat(query.toBytes()).containsExactly(code, 7, 8).hasSize(query.length());
	}

	@Test
	void aQueryOfAnUnknownKindIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> PeerQuery.of(new byte[] { 99 }))
			.withMessage("a query of the unknown kind 99");
		assertThatIllegalArgumentException().isThrownBy(() -> PeerQuery.of(new byte[0]));
	}

}
