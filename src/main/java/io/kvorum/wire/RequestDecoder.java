package io.kvorum.wire;

import java.util.List;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/**
 * Netty's decoder, handing out one request at a time: the next one is decoded when
 * {@link #finished()} says that its predecessor is through. What a client pipelines waits
 * as bytes, within a bound, and not as objects in a queue without one; and whoever
 * refuses a request may answer it on the spot, since nobody else is answering.
 * <p>
 * It also knows what only a decoder can know: how far the request is, and the flaws that
 * its objects no longer show. Lives on the channel's event loop.
 */
@SuppressWarnings("FutureReturnValueIgnored") // outcomes reach the promises
final class RequestDecoder extends HttpRequestDecoder {

	private final int maxHeldBytes;

	private final int maxDiscardedBytes;

	private @Nullable ChannelHandlerContext context;

	private boolean reading;

	private boolean busy;

	private boolean inBody;

	private boolean headBegun;

	private boolean lineRead;

	private boolean lineMisspelt;

	private int wordEnd;

	private boolean folded;

	private int contentLengthLines;

	private int requests;

	private long bodyBytes;

	private boolean discarding;

	private long discardedBytes;

	RequestDecoder(WireLimits limits) {
		super(new HttpDecoderConfig().setMaxInitialLineLength((int) limits.maxInitialLineLength().toBytes())
			.setMaxHeaderSize((int) limits.maxHeaderSize().toBytes())
			.setValidateHeaders(true)
			.setStrictLineParsing(true)
			.setUseRfc9112TransferEncoding(true)
			.setAllowDuplicateContentLengths(false));
		this.maxHeldBytes = (int) limits.maxPipelinedSize().toBytes();
		this.maxDiscardedBytes = (int) limits.maxLingerSize().toBytes();
	}

	@Override
	public void handlerAdded(ChannelHandlerContext ctx) throws Exception {
		this.context = ctx;
		super.handlerAdded(ctx);
	}

	@Override
	public void channelRead(ChannelHandlerContext ctx, Object msg) throws Exception {
		this.reading = true;
		try {
			super.channelRead(ctx, msg);
		}
		finally {
			this.reading = false;
		}
	}

	@Override
	protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) throws Exception {
		if (this.discarding) {
			discard(ctx, in);
		}
		else if (this.inBody) {
			super.decode(ctx, in, out);
			note(out);
		}
		else if (this.busy) {
			hold(ctx);
		}
		else {
			decodeHead(ctx, in, out);
		}
	}

	private void decodeHead(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) throws Exception {
		if (!this.headBegun) {
			this.headBegun = true;
			this.lineRead = false;
			this.folded = false;
			this.contentLengthLines = 0;
		}
		this.folded |= HeadScanner.hasFoldedLine(in, this.lineRead);
		super.decode(ctx, in, out);
		note(out);
	}

	/** Called by Netty for the first word of a request line, then for the others. */
	@Override
	protected String splitFirstWordInitialLine(byte[] bytes, int start, int length) {
		this.lineRead = true;
		this.lineMisspelt = false;
		this.wordEnd = start + length;
		return super.splitFirstWordInitialLine(bytes, start, length);
	}

	@Override
	protected String splitSecondWordInitialLine(byte[] bytes, int start, int length) {
		noteSeparator(bytes, start, length);
		return super.splitSecondWordInitialLine(bytes, start, length);
	}

	/** Netty would take {@code http/1.1} as well. */
	@Override
	protected String splitThirdWordInitialLine(byte[] bytes, int start, int length) {
		noteSeparator(bytes, start, length);
		String version = super.splitThirdWordInitialLine(bytes, start, length);
		this.lineMisspelt |= !version.startsWith("HTTP/");
		return version;
	}

	/** One space between the words; Netty takes any white space, and any much of it. */
	private void noteSeparator(byte[] bytes, int start, int length) {
		this.lineMisspelt |= start != this.wordEnd + 1 || bytes[this.wordEnd] != ' ';
		this.wordEnd = start + length;
	}

	/**
	 * Called by Netty once per header line. In HTTP/1.0 it makes one Content-Length of
	 * several, the first.
	 */
	@Override
	protected AsciiString splitHeaderName(byte[] bytes, int start, int length) {
		AsciiString name = super.splitHeaderName(bytes, start, length);
		if (HttpHeaderNames.CONTENT_LENGTH.contentEqualsIgnoreCase(name)) {
			this.contentLengthLines++;
		}
		return name;
	}

	private void note(List<Object> out) {
		for (int i = 0; i < out.size(); i++) {
			Object message = out.get(i);
			if (message instanceof HttpRequest) {
				this.requests++;
				this.busy = true;
				this.headBegun = false;
				this.inBody = true;
			}
			if (message instanceof HttpContent content) {
				this.bodyBytes += content.content().readableBytes();
				this.inBody = !(content instanceof LastHttpContent && content.decoderResult().isSuccess());
			}
		}
	}

	/** Bounds what waits: an unread socket makes the client wait. */
	private void hold(ChannelHandlerContext ctx) {
		if (holdsEnough()) {
			ctx.channel().config().setAutoRead(false);
		}
	}

	/** Netty's asks for more where nothing could be handed out, however much waits. */
	@Override
	public void channelReadComplete(ChannelHandlerContext ctx) throws Exception {
		if (holdsEnough()) {
			ctx.fireChannelReadComplete();
		}
		else {
			super.channelReadComplete(ctx);
		}
	}

	private void discard(ChannelHandlerContext ctx, ByteBuf in) {
		this.discardedBytes += in.readableBytes();
		in.skipBytes(in.readableBytes());
		if (this.discardedBytes > this.maxDiscardedBytes) {
			ctx.close();
		}
	}

	/** The request handed out last is answered: the next one may come. */
	void finished() {
		this.busy = false;
		ChannelHandlerContext ctx = this.context;
		if (!this.reading && ctx != null && holdsBytes()) {
			ctx.executor().execute(() -> decodeHeld(ctx));
		}
	}

	/** On a stack of its own, after all others are done with the predecessor. */
	private void decodeHeld(ChannelHandlerContext ctx) {
		if (ctx.isRemoved()) {
			return;
		}
		try {
			channelRead(ctx, Unpooled.EMPTY_BUFFER);
			channelReadComplete(ctx);
		}
		catch (Exception ex) {
			ctx.fireExceptionCaught(ex);
		}
	}

	/**
	 * From now on, what arrives is thrown away; beyond a bound, the channel is closed.
	 */
	void discardRest() {
		this.discarding = true;
	}

	boolean isDiscarding() {
		return this.discarding;
	}

	/** Whether the request handed out last is not yet finished. */
	boolean isBusy() {
		return this.busy;
	}

	/** Whether the body of the request handed out last is still to come, or broken. */
	boolean isBodyOutstanding() {
		return this.inBody;
	}

	/** Whether a part of the next request's head has arrived. */
	boolean isHeadBegun() {
		return this.headBegun;
	}

	/** Whether bytes of a next request wait. */
	boolean holdsBytes() {
		return actualReadableBytes() > 0;
	}

	/** Whether so much waits for its turn that nothing more is to be read. */
	boolean holdsEnough() {
		return this.busy && !this.inBody && !this.discarding && actualReadableBytes() >= this.maxHeldBytes;
	}

	/** Requests handed out so far, broken ones included. */
	int requests() {
		return this.requests;
	}

	/** Bytes of all bodies so far: grows while a body arrives. */
	long bodyBytes() {
		return this.bodyBytes;
	}

	/** What the request handed out last hides. */
	@Nullable Refusal hiddenFlaw() {
		if (this.lineMisspelt) {
			return Refusal.MALFORMED;
		}
		if (this.folded) {
			return Refusal.FOLDED_LINE;
		}
		return (this.contentLengthLines > 1) ? Refusal.CONTENT_LENGTH : null;
	}

}
