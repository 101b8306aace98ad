package io.kvorum.api;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.kvorum.api.BodyReader.Body;
import io.kvorum.kv.Value;
import io.kvorum.wire.HttpExchange;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class BodyReaderTests {

	private static final int MAX_VALUE_BYTES = 1 << 20;

	private static final int LARGE = 600_000;

	private final InFlightBytes inFlight = new InFlightBytes(4 << 20, MAX_VALUE_BYTES);

	private final BodyReader reader = new BodyReader(
			new ApiSettings(MAX_VALUE_BYTES, 4 << 20, Duration.ofSeconds(1), null, false, false), this.inFlight);

	@Test
	void aBodyTakesAsMuchAsItDeclaresHoweverItArrives() {
		Arriving arriving = new Arriving(this.reader, LARGE);
		arriving.bring(100_000);
		assertThat(this.inFlight.reserved()).isLessThan(LARGE);
		for (int i = 0; i < 5; i++) {
			arriving.bring(100_000);
		}
		assertThat(this.inFlight.reserved()).isEqualTo(LARGE);
		assertThat(arriving.whole().length()).isEqualTo(LARGE);

		arriving.body.release();
		assertThat(this.inFlight.reserved()).isZero();
	}

	@Test
	void aBodyOfUnknownLengthIsReadUpToTheLongestOne() {
		Arriving arriving = new Arriving(this.reader, BodyReader.UNDECLARED);
		arriving.bring(MAX_VALUE_BYTES);
		assertThat(arriving.whole().length()).isEqualTo(MAX_VALUE_BYTES);
		assertThatExceptionOfType(ProblemException.class).isThrownBy(() -> arriving.bring(1));
	}

	@Test
	void largeBodiesThatDoNotEndKeepOnlyLargeOnesOut() {
		List<Arriving> stalled = new ArrayList<>();
		for (int i = 0; i < 3; i++) {
			stalled.add(new Arriving(this.reader, MAX_VALUE_BYTES));
			stalled.getLast().bring(MAX_VALUE_BYTES - 1);
		}
		stalled.add(new Arriving(this.reader, BodyReader.UNDECLARED));
		stalled.getLast().bring(MAX_VALUE_BYTES / 2);
		assertThatExceptionOfType(ProblemException.class).isThrownBy(() -> new Arriving(this.reader, LARGE));
		assertThatExceptionOfType(ProblemException.class).isThrownBy(() -> stalled.getLast().bring(1));

		for (int i = 0; i < 32; i++) {
			new Arriving(this.reader, 16_000).bring(16_000);
		}
		assertThatExceptionOfType(ProblemException.class).isThrownBy(() -> {
			new Arriving(this.reader, 16_000);
			new Arriving(this.reader, 16_000);
		});
	}

	@Test
	void theLargestValueHasRoomHoweverSmallTheLimitIs() {
		InFlightBytes least = new InFlightBytes(MAX_VALUE_BYTES, MAX_VALUE_BYTES);
		assertThat(least.hasRoomFor(MAX_VALUE_BYTES)).isTrue();
		assertThat(least.tryReserve(MAX_VALUE_BYTES, true)).isTrue();
		assertThat(least.hasRoomFor(1)).isFalse();
	}

	/** A body that arrives part by part. */
	private static final class Arriving {

		private final Body body;

		private @Nullable Consumer<ByteBuf> part;

		private @Nullable Supplier<?> whole;

		Arriving(BodyReader reader, int declared) {
			HttpExchange exchange = (HttpExchange) Proxy.newProxyInstance(HttpExchange.class.getClassLoader(),
					new Class<?>[] { HttpExchange.class }, (_, _, arguments) -> {
						this.part = part(arguments[0]);
						this.whole = (Supplier<?>) arguments[1];
						return Mono.never();
					});
			this.body = reader.begin(exchange, declared);
			this.body.value().subscribe();
		}

		@SuppressWarnings("unchecked")
		private static Consumer<ByteBuf> part(Object argument) {
			return (Consumer<ByteBuf>) argument;
		}

		void bring(int bytes) {
			Objects.requireNonNull(this.part).accept(Unpooled.wrappedBuffer(new byte[bytes]));
		}

		Value whole() {
			return (Value) Objects.requireNonNull(this.whole).get();
		}

	}

}
