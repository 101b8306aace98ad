package io.kvorum.wire;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.PromiseCombiner;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.netty.DisposableServer;

import org.springframework.context.SmartLifecycle;

/**
 * How the API port is left when the node stops, so that no request is lost:
 * <ol>
 * <li>no more connections are taken; a client that is refused goes to another node, and
 * knows that nothing has happened. Those that wait to be accepted are taken first: to
 * close the socket would reset them, which their clients take for connections;
 * <li>each answer says {@code Connection: close}, and its connection is closed behind it;
 * <li>what is still there after five seconds is cut off: the store is about to close;
 * <li>a connection without a request is closed when its time is over, not at once: the
 * next request may be on its way, and its client could not tell whether it was carried
 * out.
 * </ol>
 * Spring Boot's graceful shutdown, which comes after it and finds nothing left to do,
 * closes idle connections at once and does not announce it (reactor-netty's
 * {@code disposeNow}): under load, each connection loses a request.
 * <p>
 * One for each server, given to its {@link HttpPort}.
 */
@SuppressWarnings("FutureReturnValueIgnored") // outcomes reach the listeners
public final class Drain implements SmartLifecycle {

	private static final Logger logger = LoggerFactory.getLogger(Drain.class);

	/** At least one turn of the event loop. */
	private static final long LOOK_MILLIS = 1;

	/** Clients that never stop connecting do not hold up the end. */
	private static final int MAX_LOOKS = 100;

	/**
	 * Less than spring.lifecycle.timeout-per-shutdown-phase: nothing closes them after
	 * it.
	 */
	private static final Duration PATIENCE = Duration.ofSeconds(5);

	/** How long a connection without a request stays open. */
	private final Duration time;

	/** How long one that does not end by itself does. */
	private final Duration patience;

	private final Set<ChannelHandlerContext> connections = ConcurrentHashMap.newKeySet();

	private final AtomicReference<@Nullable Runnable> whenDone = new AtomicReference<>();

	private volatile @Nullable DisposableServer server;

	/** On the event loop of the listening socket. */
	private int accepted;

	private volatile boolean running;

	private volatile boolean underWay;

	public Drain(Duration time) {
		this(time, PATIENCE);
	}

	Drain(Duration time, Duration patience) {
		this.time = time;
		this.patience = patience;
	}

	/** The server that is left; called by its {@link HttpPort}. */
	void bound(DisposableServer bound) {
		bound.channel().pipeline().addFirst(new ChannelInboundHandlerAdapter() {

			@Override
			public void channelRead(ChannelHandlerContext ctx, Object connection) {
				Drain.this.accepted++;
				ctx.fireChannelRead(connection);
			}

		});
		this.server = bound;
	}

	/**
	 * A connection of the server.
	 * @param guard where its {@link RequestGuard} stands
	 */
	void watch(ChannelHandlerContext guard) {
		this.connections.add(guard);
		guard.channel().closeFuture().addListener(_ -> {
			this.connections.remove(guard);
			endIfDone();
		});
		if (this.underWay) {
			closeLater(guard);
		}
	}

	/** Whether answers are the last of their connections. */
	boolean isUnderWay() {
		return this.underWay;
	}

	@Override
	public void start() {
		this.underWay = false;
		this.running = true;
	}

	@Override
	public void stop() {
		stop(() -> {
		});
	}

	/** The callback is called when the last connection is closed. */
	@Override
	public void stop(Runnable callback) {
		this.running = false;
		this.underWay = true;
		DisposableServer bound = this.server;
		if (bound == null) {
			callback.run();
			return;
		}
		logger.info("Stopping: takes no more connections, and closes the {} that are open behind their next answer, "
				+ "or when they have none for {} ms", this.connections.size(), this.time.toMillis());
		this.connections.forEach(this::closeLater);
		bound.channel().closeFuture().addListener(_ -> whenAllAreKnown(bound.channel().eventLoop(), () -> {
			this.whenDone.set(callback);
			endIfDone();
		}));
		closeWhenNobodyWaits(bound.channel(), -1, MAX_LOOKS);
	}

	/** A task of an event loop comes after what the loop has found to accept. */
	private void closeWhenNobodyWaits(Channel listening, int before, int looks) {
		listening.eventLoop().schedule(() -> {
			if (this.accepted == before || looks == 0) {
				listening.close();
			}
			else {
				closeWhenNobodyWaits(listening, this.accepted, looks - 1);
			}
		}, LOOK_MILLIS, TimeUnit.MILLISECONDS);
	}

	/**
	 * What was accepted before the socket was closed waits for its event loop: each of
	 * them has got to it when it gets to what comes now.
	 */
	private static void whenAllAreKnown(EventLoop acceptor, Runnable then) {
		PromiseCombiner all = new PromiseCombiner(acceptor);
		for (EventExecutor loop : (acceptor.parent() != null) ? acceptor.parent() : acceptor) {
			all.add(loop.submit(() -> {
			}));
		}
		all.finish(acceptor.<Void>newPromise().addListener(_ -> then.run()));
	}

	private void closeLater(ChannelHandlerContext context) {
		RequestGuard guard = (RequestGuard) context.handler();
		context.executor().schedule(() -> guard.leave(context), this.time.toNanos(), TimeUnit.NANOSECONDS);
		context.executor().schedule(() -> context.close(), this.patience.toNanos(), TimeUnit.NANOSECONDS);
	}

	private void endIfDone() {
		if (this.connections.isEmpty()) {
			Runnable callback = this.whenDone.getAndSet(null);
			if (callback != null) {
				callback.run();
			}
		}
	}

	@Override
	public boolean isRunning() {
		return this.running;
	}

	/** Before all else that stops, Spring Boot's graceful shutdown of the server too. */
	@Override
	public int getPhase() {
		return DEFAULT_PHASE;
	}

}
