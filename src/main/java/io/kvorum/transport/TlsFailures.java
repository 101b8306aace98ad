package io.kvorum.transport;

import java.nio.channels.ClosedChannelException;
import java.util.function.BiConsumer;

import javax.net.ssl.SSLException;
import javax.net.ssl.SSLHandshakeException;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.ssl.NotSslRecordException;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.handler.ssl.SslHandshakeTimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Handler behind the TLS handler of a connection to the replica port. It reports a failed
 * handshake once and hides it from reactor-netty, which would log a stack trace. Runs on
 * the event loop of the connection.
 */
final class TlsFailures extends ChannelInboundHandlerAdapter {

	/** The JDK's message for an alert of the other end, and for nothing else. */
	private static final String ALERT = "Received fatal alert";

	private final BiConsumer<Channel, Throwable> onHandshakeFailure;

	private boolean isSecure;

	TlsFailures(BiConsumer<Channel, Throwable> onHandshakeFailure) {
		this.onHandshakeFailure = onHandshakeFailure;
	}

	@Override
	public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
		if (event instanceof SslHandshakeCompletionEvent completion) {
			this.isSecure = completion.isSuccess();
			// A client that connects and hangs up is only probing the port.
			if (!this.isSecure && !(completion.cause() instanceof ClosedChannelException)) {
				this.onHandshakeFailure.accept(ctx.channel(), completion.cause());
			}
		}
		ctx.fireUserEventTriggered(event);
	}

	@Override
	@SuppressWarnings("FutureReturnValueIgnored") // no one is left to notify
	public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
		if (this.isSecure && in(cause) == null) {
			ctx.fireExceptionCaught(cause);
		}
		else {
			ctx.close();
		}
	}

	/** The TLS failure that caused an error; null if there is none. */
	static @Nullable SSLException in(Throwable error) {
		Throwable cause = error;
		while (cause != null) {
			if (cause instanceof SSLException failure) {
				return failure;
			}
			cause = cause.getCause();
		}
		return null;
	}

	/** The TLS refusal that caused an error; null for a peer that stops or is silent. */
	static @Nullable SSLException refusalIn(Throwable error) {
		SSLException failure = in(error);
		boolean isRefusal = failure instanceof NotSslRecordException
				|| (failure instanceof SSLHandshakeException && !(failure instanceof SslHandshakeTimeoutException));
		return isRefusal ? failure : null;
	}

	/** Whether the other end has refused this one. */
	static boolean isOfOther(Throwable refusal) {
		return refusal.getCause() == null && String.valueOf(refusal.getMessage()).contains(ALERT);
	}

	/**
	 * Describes a failure for the log. Bytes that came instead of TLS are left out: they
	 * may be a request with a secret.
	 */
	static String words(Throwable failure) {
		return (failure instanceof NotSslRecordException)
				? "it does not speak TLS: kvorum.cluster.ssl.bundle must be set on all nodes, or on none"
				: String.valueOf(failure.getMessage());
	}

}
