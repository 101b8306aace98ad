package io.kvorum.testing.load;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * A keep-alive connection of a client, one request at a time. It belongs to one node and
 * leads to another one while that takes none. A request is sent once: whoever sends it
 * again decides that himself. On the thread of the load.
 */
final class LoadConnection {

	private static final int MAX_ANSWER_BYTES = 64 << 10;

	private static final Pattern LENGTH = Pattern.compile("(?i)\r\ncontent-length: *(\\d+)");

	private static final Pattern CLOSE = Pattern.compile("(?i)\r\nconnection: *close");

	final String name;

	private final int home;

	private final List<InetSocketAddress> nodes;

	private final Rotation rotation;

	private final Selector selector;

	private final Listener listener;

	private final ByteBuffer in = ByteBuffer.allocate(MAX_ANSWER_BYTES);

	private @Nullable SocketChannel channel;

	/** Where the channel leads to. */
	private int node;

	private @Nullable LoadRequest request;

	/** Of connecting, for the request. */
	private int attempts;

	private long sentNanos;

	LoadConnection(String name, int home, List<InetSocketAddress> nodes, Rotation rotation, Selector selector,
			Listener listener) {
		this.name = name;
		this.home = home;
		this.nodes = nodes;
		this.rotation = rotation;
		this.selector = selector;
		this.listener = listener;
	}

	/** What becomes of requests. The connection takes another one afterwards. */
	interface Listener {

		/** Whether a connection that was led elsewhere may go home now. */
		boolean mayGoHome();

		/** A connection was refused; the next node is tried. */
		void refused();

		/** The node has closed the connection while there was no request. */
		void closedIdle();

		void answered(LoadConnection connection, LoadRequest request, long sentNanos, int status, String body);

		/** No node took a connection: nothing has happened. */
		void notSent(LoadConnection connection, LoadRequest request);

		/** It was sent to this node, and has no whole answer. */
		void broken(LoadConnection connection, LoadRequest request, long sentNanos, int node, String why);

	}

	void take(LoadRequest next) {
		this.request = next;
		this.attempts = 0;
		this.sentNanos = System.nanoTime();
		if (isUsable()) {
			send(next);
		}
		else {
			connect(next);
		}
	}

	/** As a client that reads all the time it knows that the other end has closed. */
	private boolean isUsable() {
		SocketChannel open = this.channel;
		if (open == null) {
			return false;
		}
		if (this.node != this.home && this.rotation.has(this.home) && this.listener.mayGoHome()) {
			close();
			return false;
		}
		if (read(open) < 0) {
			this.listener.closedIdle();
			close();
			return false;
		}
		return true;
	}

	private void connect(LoadRequest next) {
		while (this.attempts < 2 * this.nodes.size()) {
			int target = this.rotation.choose(this.home, this.attempts++);
			try {
				SocketChannel opened = SocketChannel.open();
				this.channel = opened;
				this.node = target;
				this.in.clear();
				opened.configureBlocking(false);
				opened.setOption(StandardSocketOptions.TCP_NODELAY, true);
				if (opened.connect(this.nodes.get(target))) {
					opened.register(this.selector, SelectionKey.OP_READ, this);
					send(next);
				}
				else {
					opened.register(this.selector, SelectionKey.OP_CONNECT, this);
				}
				return;
			}
			catch (IOException ex) {
				notConnected();
			}
		}
		this.request = null;
		this.listener.notSent(this, next);
	}

	private void notConnected() {
		this.listener.refused();
		this.rotation.leave(this.node);
		close();
	}

	private void send(LoadRequest next) {
		SocketChannel open = this.channel;
		ByteBuffer bytes = ByteBuffer.wrap(next.toBytes());
		this.in.clear();
		this.sentNanos = System.nanoTime();
		try {
			while (open != null && bytes.hasRemaining()) {
				open.write(bytes);
			}
		}
		catch (IOException ex) {
			// It was closed before: nobody has got a whole request.
			this.listener.closedIdle();
			close();
			connect(next);
		}
	}

	/** Of its selector. */
	void ready(SelectionKey key) {
		SocketChannel open = this.channel;
		LoadRequest current = this.request;
		if (open == null || !key.channel().equals(open) || !key.isValid()) {
			return;
		}
		if (key.isConnectable()) {
			try {
				open.finishConnect();
				key.interestOps(SelectionKey.OP_READ);
			}
			catch (IOException ex) {
				notConnected();
				if (current != null) {
					connect(current);
				}
				return;
			}
			if (current != null) {
				send(current);
			}
			return;
		}
		int read = read(open);
		if (current == null) {
			if (read != 0) {
				this.listener.closedIdle();
				close();
			}
		}
		else if (read < 0) {
			end((this.in.position() == 0) ? "closed without an answer" : "closed within the answer");
		}
		else {
			answer(current);
		}
	}

	/** How many bytes; less than 0 where the other end has closed. */
	private int read(SocketChannel open) {
		try {
			return open.read(this.in);
		}
		catch (IOException ex) {
			return -1;
		}
	}

	private void answer(LoadRequest current) {
		String answer = new String(this.in.array(), 0, this.in.position(), StandardCharsets.ISO_8859_1);
		int end = answer.indexOf("\r\n\r\n");
		if (end < 0) {
			return;
		}
		String head = answer.substring(0, end);
		Matcher length = LENGTH.matcher(head);
		int whole = end + 4 + (length.find() ? Integer.parseInt(length.group(1)) : 0);
		if (answer.length() < whole) {
			return;
		}
		this.request = null;
		if (CLOSE.matcher(head).find()) {
			this.rotation.leave(this.node);
			close();
		}
		this.listener.answered(this, current, this.sentNanos, Integer.parseInt(head.substring(9, 12)),
				answer.substring(end + 4, whole));
	}

	/** Gives up a request that was sent before this time. */
	void giveUpIfOlder(long thanNanos) {
		if (this.request != null && this.channel != null && this.sentNanos - thanNanos < 0) {
			end("no answer in time");
		}
	}

	private void end(String why) {
		LoadRequest ended = this.request;
		int where = this.node;
		close();
		this.request = null;
		if (ended != null) {
			this.listener.broken(this, ended, this.sentNanos, where, why);
		}
	}

	void close() {
		SocketChannel open = this.channel;
		this.channel = null;
		try {
			if (open != null) {
				open.close();
			}
		}
		catch (IOException ex) {
			// It is gone all the same.
		}
	}

}
