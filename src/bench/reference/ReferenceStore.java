import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

import one.nio.http.HttpServer;
import one.nio.http.HttpServerConfig;
import one.nio.http.HttpSession;
import one.nio.http.Request;
import one.nio.http.Response;
import one.nio.server.AcceptorConfig;
import org.rocksdb.FlushOptions;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;

/**
 * The store that Kvorum is compared with: one-nio and RocksDB, as the courses built their servers of the v0/entity API.
 * RocksDB has its default options and does not sync its log. There are no versions and no replicas. The only limits are
 * the executor's queue and one-nio's own of 64 KB for a value.
 *
 * <p>
 * With {@code --queue=0} the thread of the selector that read the request calls the storage. With another number a pool
 * of threads does, behind a queue of that length. A full queue refuses with 503.
 */
public final class ReferenceStore extends HttpServer {

	private static final Map<String, String> DEFAULTS = Map.of("port", "8080", "data", "data", "threads",
			Integer.toString(Runtime.getRuntime().availableProcessors()), "queue", "0");

	private static final byte[] STATUS = "reference".getBytes(StandardCharsets.US_ASCII);

	private final RocksDB database;

	/** Null where the storage is called on the selector's thread. */
	private final ThreadPoolExecutor executor;

	private ReferenceStore(int port, int threads, int queueLength, RocksDB database) throws IOException {
		super(config(port, threads));
		this.database = database;
		this.executor = (queueLength == 0) ? null : new ThreadPoolExecutor(threads, threads, 0, TimeUnit.MILLISECONDS,
				new ArrayBlockingQueue<>(queueLength), new ThreadPoolExecutor.AbortPolicy());
		if (this.executor != null) {
			this.executor.prestartAllCoreThreads();
		}
	}

	private static HttpServerConfig config(int port, int selectors) {
		AcceptorConfig acceptor = new AcceptorConfig();
		acceptor.address = "127.0.0.1";
		acceptor.port = port;
		acceptor.deferAccept = true;
		acceptor.reusePort = true;
		HttpServerConfig config = new HttpServerConfig();
		config.acceptors = new AcceptorConfig[] { acceptor };
		config.selectors = selectors;
		config.closeSessions = true;
		return config;
	}

	@Override
	public void handleRequest(Request request, HttpSession session) throws IOException {
		switch (request.getPath()) {
			case "/v0/entity" -> handleEntity(request, session);
			case "/v0/status" -> session.sendResponse(Response.ok(STATUS));
			case "/v0/flush" -> session.sendResponse(flush());
			default -> session.sendResponse(empty(Response.BAD_REQUEST));
		}
	}

	/** Writes the memtable to a file, for measurements. */
	private Response flush() {
		try (FlushOptions options = new FlushOptions()) {
			this.database.flush(options);
			return Response.ok(STATUS);
		}
		catch (RocksDBException broken) {
			return empty(Response.INTERNAL_ERROR);
		}
	}

	private void handleEntity(Request request, HttpSession session) throws IOException {
		String id = request.getParameter("id=");
		if (id == null || id.isEmpty()) {
			session.sendResponse(empty(Response.BAD_REQUEST));
		}
		else if (this.executor == null) {
			session.sendResponse(answer(request, id));
		}
		else {
			try {
				this.executor.execute(() -> answerLater(request, id, session));
			}
			catch (RejectedExecutionException full) {
				session.sendResponse(empty(Response.SERVICE_UNAVAILABLE));
			}
		}
	}

	private void answerLater(Request request, String id, HttpSession session) {
		try {
			session.sendResponse(answer(request, id));
		}
		catch (IOException gone) {
			session.scheduleClose();
		}
	}

	private Response answer(Request request, String id) {
		byte[] key = id.getBytes(StandardCharsets.UTF_8);
		try {
			return switch (request.getMethod()) {
				case Request.METHOD_GET -> {
					byte[] value = this.database.get(key);
					yield (value != null) ? Response.ok(value) : empty(Response.NOT_FOUND);
				}
				case Request.METHOD_PUT -> {
					byte[] body = request.getBody();
					this.database.put(key, (body != null) ? body : Response.EMPTY);
					yield empty(Response.CREATED);
				}
				case Request.METHOD_DELETE -> {
					this.database.delete(key);
					yield empty(Response.ACCEPTED);
				}
				default -> empty(Response.METHOD_NOT_ALLOWED);
			};
		}
		catch (RocksDBException broken) {
			return empty(Response.INTERNAL_ERROR);
		}
	}

	private static Response empty(String status) {
		return new Response(status, Response.EMPTY);
	}

	public static void main(String[] args) throws IOException, RocksDBException {
		Map<String, String> settings = new LinkedHashMap<>(DEFAULTS);
		for (String argument : args) {
			String[] setting = argument.split("=", 2);
			if (setting.length != 2 || !setting[0].startsWith("--") || settings.replace(setting[0].substring(2), setting[1]) == null) {
				System.err.println("not an argument: " + argument + "; there are, with their defaults, --name=value of " + DEFAULTS);
				System.exit(2);
			}
		}
		Path data = Files.createDirectories(Path.of(settings.get("data")));
		RocksDB.loadLibrary();
		RocksDB database = RocksDB.open(new Options().setCreateIfMissing(true), data.toString());
		ReferenceStore server = new ReferenceStore(number(settings, "port"), number(settings, "threads"), number(settings, "queue"),
				database);
		Runtime.getRuntime().addShutdownHook(new Thread(() -> {
			server.stop();
			database.close();
		}));
		server.start();
	}

	private static int number(Map<String, String> settings, String name) {
		return Integer.parseInt(settings.get(name));
	}

}
