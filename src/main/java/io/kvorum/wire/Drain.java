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
import org.springframework.context.SmartLifecycle;
import reactor.netty.DisposableServer;

/**
 * Drains a port when the server stops, so that no request is lost:
 * <ol>
 * <li>Connections that wait to be accepted are accepted. Their clients take them for
 * open, and closing the socket would reset them.
 * <li>No more connections are accepted. A client that is refused goes to another node,
 * and knows that nothing has happened.
 * <li>Each answer says {@code Connection: close}, and its connection is closed behind it.
 * <li>A connection without a request is closed when its time is over. The next request
 * may be on its way, and its client could not tell whether it was carried out.
 * <li>A connection that is still open after five seconds is cut off: the store is about
 * to close.
 * </ol>
 * Spring Boot's graceful shutdown comes after it and finds nothing left to do. Alone it
 * closes idle connections at once and unannounced (reactor-netty's {@code disposeNow}):
 * under load, each connection loses a request.
 * <p>
 * One for each server, given to its {@link HttpPort}.
 */
@SuppressWarnings("FutureReturnValueIgnored") // outcomes reach the listeners
public final class Drain implements SmartLifecycle {

	private static final Logger logger = LoggerFactory.getLogger(Drain.class);

	/** Milliseconds between two looks: at least one turn of the event loop. */
	private static final long LOOK_MILLIS = 1;

	/** The most looks: clients that go on connecting do not delay the end. */
	private static final int MAX_LOOKS = 100;

	/**
	 * The time after which connections are cut off. It is shorter than
	 * spring.lifecycle.timeout-per-shutdown-phase: nothing closes them after that.
	 */
	public static final Duration PATIENCE = Duration.ofSeconds(5);

	/** The time for which a connection without a request stays open. */
	private final Duration time;

	/** The time after which a connection that does not end by itself is cut off. */
	private final Duration patience;

	private final Set<ChannelHandlerContext> connections = ConcurrentHashMap.newKeySet();

	private final AtomicReference<@Nullable Runnable> whenDone = new AtomicReference<>();

	private volatile @Nullable DisposableServer server;

	/** Connections so far; used on the event loop of the listening socket. */
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

	/** Takes over the server; called by its {@link HttpPort}. */
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
	 * Takes over a connection of the server.
	 * @param guard the context of its {@link RequestGuard}
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

	/** Whether each answer is the last of its connection. */
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

	/** Calls the callback when the last connection is closed. */
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
		closeWhenNothingIsAccepted(bound.channel(), -1, MAX_LOOKS);
	}

	private void closeWhenNothingIsAccepted(Channel listening, int before, int looks) {
		listening.eventLoop().schedule(() -> {
			if (this.accepted == before || looks == 0) {
				listening.close();
			}
			else {
				closeWhenNothingIsAccepted(listening, this.accepted, looks - 1);
			}
		}, LOOK_MILLIS, TimeUnit.MILLISECONDS);
	}

	/**
	 * Runs a task when all accepted connections are registered. Their registrations wait
	 * in the queues of the event loops, so tasks queued now run after them.
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

	/** The first to stop: Spring Boot's graceful shutdown of the server comes later. */
	@Override
	public int getPhase() {
		return DEFAULT_PHASE;
	}

}
