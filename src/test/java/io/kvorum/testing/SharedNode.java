package io.kvorum.testing;

import java.io.IOException;
import java.nio.file.Path;

import org.junit.jupiter.api.extension.AfterTestExecutionCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.springframework.util.FileSystemUtils;

/**
 * Gives tests a {@link NodeProcess} and a {@link KvorumClient} of the one node that all
 * of them share: keys must differ.
 */
public final class SharedNode implements ParameterResolver, AfterTestExecutionCallback {

	private static final Namespace NAMESPACE = Namespace.create(SharedNode.class);

	@Override
	public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
		Class<?> type = parameter.getParameter().getType();
		return type == NodeProcess.class || type == KvorumClient.class;
	}

	@Override
	public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
		NodeProcess node = node(context);
		return (parameter.getParameter().getType() == KvorumClient.class) ? node.client() : node;
	}

	/**
	 * Started once in a run; JUnit closes it with the run, as it does with whatever is
	 * closeable in its store.
	 */
	private static NodeProcess node(ExtensionContext context) {
		return context.getRoot()
			.getStore(NAMESPACE)
			.computeIfAbsent("node", (key) -> start(Path.of("target", "it", "shared").toAbsolutePath()),
					NodeProcess.class);
	}

	private static NodeProcess start(Path directory) {
		try {
			FileSystemUtils.deleteRecursively(directory);
			NodeSpec spec = NodeSpec.on(directory.resolve("data")).with(NodeSpec.PATIENT);
			return NodeProcess.launch(spec, NodeLog.createFile(directory, "node.log")).awaitReady();
		}
		catch (IOException | InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Override
	public void afterTestExecution(ExtensionContext context) {
		context.getExecutionException().ifPresent((ex) -> System.out.println(node(context).logTail()));
	}

}
