package io.kvorum.operation;

import reactor.core.publisher.Mono;

/** An open range, read piece by piece as fast as its reader asks. */
public interface RangeCursor extends AutoCloseable {

	/**
	 * Reads the next piece. The caller asks for one piece after the other, up to the
	 * last. Fails with an {@link OperationFailedException} if too few replicas can be
	 * read.
	 */
	Mono<RangePiece> next();

	/** Frees the memory of the range. A second call has no effect. */
	@Override
	void close();

}
