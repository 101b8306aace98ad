package io.kvorum.test;

import java.net.URI;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * A {@link KvorumCluster} for tests with JUnit Jupiter.
 *
 * <pre>
 * &#64;RegisterExtension
 * static final KvorumExtension kvorum = KvorumExtension.nodes(3);
 * </pre>
 *
 * In a static field it is one cluster for all tests of the class, nested classes
 * included. Before each test the nodes are {@link KvorumCluster#restore() restored}, and
 * keep their data. So tests that kill or pause nodes must not run in parallel. In an
 * instance field each test has a cluster of its own.
 * <p>
 * When a test fails, the last lines that the nodes have printed are on the standard
 * error, and data and logs are kept. Tests and lifecycle methods may have parameters of
 * type {@link KvorumCluster}.
 */
public final class KvorumExtension
		implements BeforeAllCallback, BeforeEachCallback, AfterEachCallback, AfterAllCallback, ParameterResolver {

	private final KvorumCluster.Builder builder;

	private volatile @Nullable KvorumCluster cluster;

	/** The context after which the cluster is closed. */
	private volatile String startedBy = "";

	private KvorumExtension(KvorumCluster.Builder builder) {
		this.builder = builder;
	}

	/**
	 * A cluster with the usual settings.
	 * @param count how many nodes: 1, or 3 for a cluster that goes on without one of them
	 * @return an extension to register
	 */
	public static KvorumExtension nodes(int count) {
		return of(KvorumCluster.builder().nodes(count));
	}

	/**
	 * Any cluster.
	 * @param builder describes it
	 * @return an extension to register
	 */
	public static KvorumExtension of(KvorumCluster.Builder builder) {
		return new KvorumExtension(builder);
	}

	/**
	 * Sets a property of all nodes.
	 * @param name as of {@link KvorumCluster.Builder#property}
	 * @param value the value
	 * @return this
	 */
	public KvorumExtension property(String name, String value) {
		this.builder.property(name, value);
		return this;
	}

	/**
	 * Lets nodes be cut from their clients.
	 * @return this
	 * @see KvorumCluster.Builder#relayed()
	 */
	public KvorumExtension relayed() {
		this.builder.relayed();
		return this;
	}

	/**
	 * The cluster of the class or of the test.
	 * @return a cluster that has been started
	 * @throws IllegalStateException before the start and after the end
	 */
	public KvorumCluster cluster() {
		KvorumCluster started = this.cluster;
		if (started == null) {
			throw new IllegalStateException("The cluster is there only during "
					+ "the tests of a class (static field) or during a test (instance field)");
		}
		return started;
	}

	/**
	 * Where clients call the nodes.
	 * @return as of {@link KvorumCluster#urls()}
	 */
	public List<URI> urls() {
		return cluster().urls();
	}

	/**
	 * One of the nodes.
	 * @param number from 1
	 * @return as of {@link KvorumCluster#node(int)}
	 */
	public KvorumNode node(int number) {
		return cluster().node(number);
	}

	@Override
	public void beforeAll(ExtensionContext context) {
		startUnlessStarted(context);
	}

	@Override
	public void beforeEach(ExtensionContext context) {
		if (!startUnlessStarted(context)) {
			cluster().restore();
		}
	}

	/** Called for nested classes, too, whose tests use the cluster of the outer class. */
	private boolean startUnlessStarted(ExtensionContext context) {
		if (this.cluster != null) {
			return false;
		}
		this.cluster = this.builder.name(context.getRequiredTestClass().getSimpleName()).start();
		this.startedBy = context.getUniqueId();
		return true;
	}

	@Override
	public void afterEach(ExtensionContext context) {
		report(context);
		closeAfter(context);
	}

	@Override
	public void afterAll(ExtensionContext context) {
		if (this.startedBy.equals(context.getUniqueId())) {
			report(context);
		}
		closeAfter(context);
	}

	private void report(ExtensionContext context) {
		KvorumCluster failed = this.cluster;
		if (failed != null && context.getExecutionException().isPresent()) {
			failed.keepData();
			System.err.printf("%s has failed. The data of the nodes are kept in %s.%n%s%n", context.getDisplayName(),
					failed.directory(), failed.logs());
		}
	}

	private void closeAfter(ExtensionContext context) {
		KvorumCluster started = this.cluster;
		if (started != null && this.startedBy.equals(context.getUniqueId())) {
			this.cluster = null;
			started.close();
		}
	}

	@Override
	public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
		return parameter.getParameter().getType() == KvorumCluster.class;
	}

	@Override
	public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
		return cluster();
	}

}
