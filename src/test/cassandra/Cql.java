import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import com.datastax.driver.core.Cluster;
import com.datastax.driver.core.Session;
import org.slf4j.LoggerFactory;

/**
 * Executes the statements of the standard input, as cqlsh does:
 * {@code kvorum schema … | java -cp 'target/cassandra/*' src/test/cassandra/Cql.java <address>}.
 */
final class Cql {

	private Cql() {
	}

	public static void main(String[] arguments) throws Exception {
		((Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME)).setLevel(Level.WARN);
		String text = new String(System.in.readAllBytes()).replaceAll("(?m)^--.*$", "");
		try (Cluster cluster = Cluster.builder().addContactPoint(arguments[0]).withoutMetrics().withoutJMXReporting().build();
				Session session = cluster.connect()) {
			for (String statement : text.split(";")) {
				if (!statement.isBlank()) {
					session.execute(statement.strip()).forEach(System.out::println);
				}
			}
		}
	}

}
