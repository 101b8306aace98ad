package io.kvorum.ycsb;

import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.Vector;
import java.util.concurrent.atomic.AtomicInteger;

import io.kvorum.ycsb.Node.Answer;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;
import site.ycsb.workloads.CoreWorkload;
import tools.jackson.core.JacksonException;

/**
 * Kvorum as a database of YCSB: a record is one value, its key the name of its table, a
 * slash and the key that YCSB gives it.
 * <p>
 * YCSB makes one of these for each of its threads. Each talks to one node, the next one
 * in turn, and never repeats a request: what fails is counted as failed.
 * <p>
 * An update of some fields of a record reads the record and writes it as a whole. That is
 * two requests and not atomic: of two such updates of a record at the same time one may
 * be lost. An update of all fields ({@code writeallfields=true}, or records of one field)
 * is one write.
 */
public final class KvorumClient extends DB {

	/** Addresses of nodes, {@code http://host:port}, with commas in between. */
	static final String URLS = "kvorum.urls";

	/** {@code ack/from} of each operation but scans; the node's default without it. */
	static final String REPLICAS = "kvorum.replicas";

	/**
	 * Milliseconds that a node may pause while it owes an answer; then the operation
	 * fails.
	 */
	static final String TIMEOUT = "kvorum.timeout.ms";

	/** Between a table and a key; what follows it ends the keys of a table. */
	private static final char SEPARATOR = '/';

	private static final AtomicInteger threads = new AtomicInteger();

	private Node node;

	private int fieldCount;

	@Override
	public void init() throws DBException {
		Properties properties = getProperties();
		String[] urls = properties.getProperty(URLS, "http://127.0.0.1:8080").split(",");
		String url = urls[threads.getAndIncrement() % urls.length].strip();
		try {
			this.node = new Node(url, properties.getProperty(REPLICAS, ""),
					Duration.ofMillis(Long.parseLong(properties.getProperty(TIMEOUT, "10000"))));
			this.fieldCount = Integer.parseInt(properties.getProperty(CoreWorkload.FIELD_COUNT_PROPERTY,
					CoreWorkload.FIELD_COUNT_PROPERTY_DEFAULT));
		}
		catch (NumberFormatException ex) {
			throw new DBException(ex);
		}
	}

	@Override
	public void cleanup() throws DBException {
		try {
			this.node.close();
		}
		catch (IOException ex) {
			throw new DBException(ex);
		}
	}

	@Override
	public Status read(String table, String key, Set<String> fields, Map<String, ByteIterator> result) {
		return attempt(() -> {
			Answer answer = this.node.get(id(table, key));
			if (answer.status() == 200) {
				result.putAll(chosen(answer.body(), fields));
			}
			return status(answer.status(), 200);
		});
	}

	@Override
	public Status insert(String table, String key, Map<String, ByteIterator> values) {
		return attempt(() -> put(id(table, key), bytes(values)));
	}

	@Override
	public Status update(String table, String key, Map<String, ByteIterator> values) {
		Map<String, byte[]> changed = bytes(values);
		return attempt(() -> {
			String id = id(table, key);
			if (changed.size() >= this.fieldCount) {
				return put(id, changed);
			}
			Answer answer = this.node.get(id);
			if (answer.status() != 200) {
				return status(answer.status(), 200);
			}
			Map<String, byte[]> fields = FieldCodec.decode(answer.body());
			fields.putAll(changed);
			return put(id, fields);
		});
	}

	private Status put(String id, Map<String, byte[]> fields) throws IOException {
		return status(this.node.put(id, FieldCodec.encode(fields)).status(), 201);
	}

	@Override
	public Status delete(String table, String key) {
		return attempt(() -> status(this.node.delete(id(table, key)).status(), 202));
	}

	@Override
	public Status scan(String table, String startKey, int recordCount, Set<String> fields,
			Vector<HashMap<String, ByteIterator>> result) {
		return attempt(() -> {
			int status = this.node.range(id(table, startKey), table + (char) (SEPARATOR + 1), recordCount,
					lines -> RangeReader.read(lines, (_, value) -> result.add(new HashMap<>(chosen(value, fields)))));
			// YCSB begins at records that it has inserted.
			return (status == 200 && result.isEmpty()) ? Status.NOT_FOUND : status(status, 200);
		});
	}

	private static Status attempt(Request request) {
		try {
			return request.send();
		}
		catch (IllegalArgumentException | JacksonException _) {
			// The stored value is not a record.
			return Status.UNEXPECTED_STATE;
		}
		catch (IOException _) {
			return Status.ERROR;
		}
	}

	private static Status status(int status, int expected) {
		if (status == expected) {
			return Status.OK;
		}
		return (status == 404) ? Status.NOT_FOUND : new Status("HTTP_" + status, "The node answered " + status);
	}

	private static String id(String table, String key) {
		return table + SEPARATOR + key;
	}

	private static Map<String, byte[]> bytes(Map<String, ByteIterator> values) {
		Map<String, byte[]> bytes = new LinkedHashMap<>();
		values.forEach((name, value) -> bytes.put(name, value.toArray()));
		return bytes;
	}

	/** Returns the requested fields of a value, or all of them where that set is null. */
	private static Map<String, ByteIterator> chosen(byte[] value, Set<String> fields) {
		Map<String, ByteIterator> chosen = new HashMap<>();
		FieldCodec.decode(value).forEach((name, bytes) -> {
			if (fields == null || fields.contains(name)) {
				chosen.put(name, new ByteArrayByteIterator(bytes));
			}
		});
		return chosen;
	}

	private interface Request {

		Status send() throws IOException;

	}

}
