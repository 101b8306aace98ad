package io.kvorum.wire;

import java.util.List;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.AsciiString;
import io.netty.util.ByteProcessor;
import org.jspecify.annotations.Nullable;

/**
 * Netty's decoder, limited to one request at a time. The next one is decoded when its
 * predecessor is finished. What a client pipelines waits as bytes, within a bound, and
 * not as objects in a queue without one. The guard may answer a request that it refuses
 * on the spot, since no other answer is under way. Lives on the channel's event loop.
 */
@SuppressWarnings("FutureReturnValueIgnored") // outcomes reach the promises
final class RequestDecoder extends HttpRequestDecoder {

	/** The bytes that a connection may hold while all together hold too many. */
	private static final int LEAST_HELD_BYTES = 1024;

	private final int maxHeldBytes;

	private final int maxDiscardedBytes;

	/** The bytes held by all connections of the port. */
	private final HeldBytes held;

	/** The bytes of this connection that are counted in {@link #held}. */
	private int counted;

	private final ConnectionState state;

	private final HeadScanner head = new HeadScanner();

	private @Nullable ChannelHandlerContext context;

	private boolean reading;

	private long discardedBytes;

	RequestDecoder(ConnectionState state, WireLimits limits, HeldBytes held) {
		super(new HttpDecoderConfig().setMaxInitialLineLength((int) limits.maxInitialLineLength().toBytes())
			.setMaxHeaderSize((int) limits.maxHeaderSize().toBytes())
			.setValidateHeaders(true)
			.setStrictLineParsing(true)
			.setUseRfc9112TransferEncoding(true)
			.setAllowDuplicateContentLengths(false));
		this.state = state;
		this.maxHeldBytes = (int) limits.maxPipelinedSize().toBytes();
		this.maxDiscardedBytes = (int) limits.maxLingerSize().toBytes();
		this.held = held;
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
			count();
		}
	}

	@Override
	protected void handlerRemoved0(ChannelHandlerContext ctx) throws Exception {
		super.handlerRemoved0(ctx);
		count();
	}

	private void count() {
		int bytes = actualReadableBytes();
		if (bytes != this.counted) {
			this.held.add(bytes - this.counted);
			this.counted = bytes;
		}
	}

	@Override
	protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) throws Exception {
		if (this.state.isDiscarding()) {
			discard(ctx, in);
		}
		else if (this.state.isBodyOutstanding()) {
			super.decode(ctx, in, out);
			note(out);
		}
		else if (this.state.isBusy()) {
			hold(ctx);
		}
		else {
			decodeHead(ctx, in, out);
		}
	}

	private void decodeHead(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) throws Exception {
		if (!this.state.isHeadBegun()) {
			skipEmptyLines(in);
			if (!in.isReadable()) {
				return;
			}
			this.state.headBegins();
			this.head.begin();
		}
		this.head.lines(in);
		super.decode(ctx, in, out);
		note(out);
	}

	/** Skips empty lines before a head, which are no part of it (RFC 9112, 2.2). */
	private static void skipEmptyLines(ByteBuf in) {
		int begin = in.forEachByte(ByteProcessor.FIND_NON_CRLF);
		in.readerIndex((begin >= 0) ? begin : in.writerIndex());
	}

	/** Called by Netty for the words of a request line, as are the next two. */
	@Override
	protected String splitFirstWordInitialLine(byte[] bytes, int start, int length) {
		this.head.firstWord(start, length);
		return super.splitFirstWordInitialLine(bytes, start, length);
	}

	@Override
	protected String splitSecondWordInitialLine(byte[] bytes, int start, int length) {
		this.head.nextWord(bytes, start, length);
		return super.splitSecondWordInitialLine(bytes, start, length);
	}

	@Override
	protected String splitThirdWordInitialLine(byte[] bytes, int start, int length) {
		this.head.nextWord(bytes, start, length);
		String version = super.splitThirdWordInitialLine(bytes, start, length);
		this.head.version(version);
		return version;
	}

	/** Called by Netty once per header line. */
	@Override
	protected AsciiString splitHeaderName(byte[] bytes, int start, int length) {
		AsciiString name = super.splitHeaderName(bytes, start, length);
		this.head.header(name);
		return name;
	}

	private void note(List<Object> out) {
		for (int i = 0; i < out.size(); i++) {
			Object message = out.get(i);
			if (message instanceof HttpRequest) {
				this.state.headEnds();
			}
			if (message instanceof HttpContent content) {
				this.state.bodyArrives(content.content().readableBytes());
				if (content instanceof LastHttpContent && content.decoderResult().isSuccess()) {
					this.state.bodyEnds();
				}
			}
		}
	}

	/** Stops reading beyond the bound: an unread socket makes the client wait. */
	private void hold(ChannelHandlerContext ctx) {
		count();
		if (holdsEnough()) {
			ctx.channel().config().setAutoRead(false);
		}
	}

	/**
	 * Reads on only within the bound. Netty's method asks for more if nothing could be
	 * handed out, however much waits.
	 */
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

	/** Decodes what waits: the request handed out last is finished. */
	void decodeNext() {
		ChannelHandlerContext ctx = this.context;
		if (!this.reading && ctx != null && holdsBytes()) {
			ctx.executor().execute(() -> decodeHeld(ctx));
		}
	}

	/** Runs on a stack of its own, when all handlers are done with the predecessor. */
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

	/** Whether bytes of a next request wait. */
	boolean holdsBytes() {
		return actualReadableBytes() > 0;
	}

	/** Whether so many bytes wait that no more are to be read. */
	boolean holdsEnough() {
		int bytes = actualReadableBytes();
		return bytes >= LEAST_HELD_BYTES && this.state.isBusy() && !this.state.isBodyOutstanding()
				&& (bytes >= this.maxHeldBytes || this.held.areTooMany());
	}

	/** The flaw of the last request that its object no longer shows, if any. */
	@Nullable Refusal hiddenFlaw() {
		return this.head.flaw();
	}

}
