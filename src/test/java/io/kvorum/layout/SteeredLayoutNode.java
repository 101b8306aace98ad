package io.kvorum.layout;

import io.kvorum.cluster.Layout;
import io.kvorum.cluster.Member;
import io.kvorum.convergence.change.ChangeStatus;
import io.kvorum.convergence.change.CopyProgress;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** A node whose layout and progress are in the hands of a test. */
public final class SteeredLayoutNode implements LayoutNode {

	/** Null while it is in no cluster. */
	public @Nullable Layout layout;

	public @Nullable String outside;

	public @Nullable ChangeStatus change;

	public @Nullable CopyProgress copying;

	public boolean isSettled = true;

	/** By default that of a node a, with a megabyte. */
	public Mono<Store> store = Mono.just(new Store(Member.idOf("http://a:1"), 1_000_000, 1_000));

	@Override
	public @Nullable Layout layout() {
		return this.layout;
	}

	@Override
	public boolean isSettled() {
		return this.isSettled;
	}

	@Override
	public @Nullable String outside() {
		return this.outside;
	}

	@Override
	public @Nullable ChangeStatus change() {
		return this.change;
	}

	@Override
	public @Nullable CopyProgress copying() {
		return this.copying;
	}

	@Override
	public Mono<Store> store() {
		return this.store;
	}

}
