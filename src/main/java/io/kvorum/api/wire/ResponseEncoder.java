package io.kvorum.api.wire;

import java.util.List;

import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseEncoder;
import io.netty.handler.codec.http.HttpStatusClass;

/**
 * Netty's encoder, which leaves out the body of a response to HEAD, and lets prepared
 * {@link Chunks} through. One request is open at a time, so that it need not queue their
 * methods.
 */
final class ResponseEncoder extends HttpResponseEncoder {

	private boolean toHead;

	/** The responses from now on answer a request of this method. */
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
		}
	}

	@Override
	protected boolean isContentAlwaysEmpty(HttpResponse response) {
		boolean last = response.status().codeClass() != HttpStatusClass.INFORMATIONAL;
		return (this.toHead && last) || super.isContentAlwaysEmpty(response);
	}

}
