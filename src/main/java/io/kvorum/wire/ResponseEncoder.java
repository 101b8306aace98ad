package io.kvorum.wire;

import java.util.List;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseEncoder;
import io.netty.handler.codec.http.HttpStatusClass;

/**
 * Netty's encoder. It leaves out the body of a response to HEAD, and lets prepared
 * {@link Chunks} through. One request is open at a time, so it queues no methods.
 * <p>
 * A short body leaves in one buffer with its head; Netty does that only up to 128 bytes.
 * Two buffers take two writes in the pipeline and the more expensive system call, for
 * several buffers.
 */
final class ResponseEncoder extends HttpResponseEncoder {

	/** The longest body that is copied behind its head. */
	private static final int MAX_JOINED_BYTES = 16 << 10;

	private boolean toHead;

	/** Sets the method of the request that the next responses answer. */
	void answer(HttpMethod method) {
		this.toHead = HttpMethod.HEAD.equals(method);
	}

	@Override
	protected void encode(ChannelHandlerContext ctx, Object msg, List<Object> out) throws Exception {
		if (msg instanceof Chunks chunks) {
			out.add(chunks);
		}
		else {
			super.encode(ctx, msg, out);
			if (msg instanceof FullHttpResponse && out.size() == 2) {
				joinBody(out);
			}
		}
	}

	private static void joinBody(List<Object> out) {
		if (out.getFirst() instanceof ByteBuf head && out.getLast() instanceof ByteBuf body
				&& body.readableBytes() <= MAX_JOINED_BYTES) {
			head.writeBytes(body);
			out.removeLast();
			body.release();
		}
	}

	@Override
	protected boolean isContentAlwaysEmpty(HttpResponse response) {
		boolean last = response.status().codeClass() != HttpStatusClass.INFORMATIONAL;
		return (this.toHead && last) || super.isContentAlwaysEmpty(response);
	}

}
